/** Loads the facts that an agent is told, and writes the context files made of them. */

import { agentInstructionsText } from '../../rules/briefing/agent-instructions.ts';
import { areasOverlap, parseArea } from '../../../tasks/rules/areas/areas.ts';
import {
  type BriefedBegin,
  type BriefedEntry,
  type BriefedPlan,
  type Briefing,
  type Collision,
  type GitState,
  type Neighbour,
  type Some,
  type TaskMention,
  excerpt,
  lastOf,
  someOf,
} from '../../rules/briefing/briefing.ts';
import { sessionPromptText, systemPromptText } from '../../rules/briefing/prompts.ts';
import { agentContextText } from '../../rules/briefing/texts.ts';
import { unreachable } from '../../../kernel/unreachable.ts';
import { agentEnvironment } from '../../../workspaces/rules/environment.ts';
import type { FinishRules } from '../../rules/finish/finish.ts';
import type { LedgerEntry } from '../../../tasks/rules/ledger.ts';
import type { Policy } from '../../../kernel/policy.ts';
import { findingsOf } from '../../../radar/rules/radar.ts';
import type { HandbackReason, Task, TaskSummary } from '../../../tasks/rules/task.ts';
import type { ContextFiles, Begin, Orders } from '../../ports/runners.ts';
import type { Merging } from '../../../queue/ports/merging.ts';
import type { RadarSight } from '../../../radar/port.ts';
import { reportFolder } from '../../act/report.ts';
import { sessionContextText } from './session-context.ts';
import type { PreparedWorkspace } from '../surroundings.ts';
import { strategyFor } from '../../../workspaces/act/checkout/prepare-elsewhere.ts';
import { lastSighting } from '../../../radar/radar.ts';
import type { WorkspaceContext } from '../../../workspaces/act/context.ts';

export { handbackPrompt, handoffPrompt } from '../../rules/briefing/prompts.ts';

export interface BriefingContext extends WorkspaceContext {
  readonly merging: Pick<Merging, 'commits'>;
  readonly contextFiles: ContextFiles;
  readonly radar: RadarSight;
}

/** Without rules, only the task's own accept commands are known. */
export async function loadBriefing(
  context: BriefingContext,
  orders: Orders,
  prepared: PreparedWorkspace,
  rules?: Pick<FinishRules, 'accept' | 'commitConvention'>,
): Promise<Briefing> {
  const { board, clock, policy } = context;
  const task = await board.get('task', orders.task);
  if (task === undefined) throw new Error(`${orders.task} is no longer on the board`);
  const { bodyLength } = policy.briefing;
  const { session, attempt, agent } = orders;
  const prompt = task.origin?.kind === 'schedule' ? task.origin.prompt : undefined;
  return {
    at: clock.now(),
    session,
    attempt,
    agent,
    begin: briefBegin(orders.begin, policy.briefing),
    task: {
      id: task.id,
      title: task.title,
      body: excerpt(task.body, bodyLength),
      ...(prompt !== undefined && { prompt: excerpt(prompt, bodyLength) }),
      priority: task.priority,
      kind: task.kind,
      areas: task.areas,
      requires: task.requires,
      workItem: task.workItem,
      accept: rules?.accept ?? task.accept,
      isConventionRequired: rules?.commitConvention === 'require',
    },
    plan: await loadPlan(context, task),
    dependencies: await loadDependencies(context, task),
    ledger: await loadLedger(context, task),
    git: await loadGit(context, task, prepared),
    nearby: await loadNearby(context, task),
    collisions: await loadCollisions(context, task),
    crashes: { count: task.retries, limit: policy.retry.maxRetries },
    environment: variablesToldOf(context, task, orders, prepared),
    notes: prepared.notes,
    imports: [],
    resultFolder: prepared.workspace.strategy === 'none' ? reportFolder(context, task.id, null) : null,
  };
}

export interface WrittenContext {
  readonly prompt: string;
  readonly promptFile: string;
  readonly systemPrompt: string;
}

/** A refusal of the gate during an attempt. */
export interface MidwayHandback {
  readonly because: HandbackReason;
  readonly reason: string;
}

/** Writes all files again: into the worktree, or into the board's folder for a task without one. */
export async function writeContext(
  { contextFiles, policy }: Pick<BriefingContext, 'contextFiles' | 'policy'>,
  facts: Briefing & { readonly handback?: MidwayHandback },
  worktreePath: string | null,
): Promise<WrittenContext> {
  const places = await contextFiles.choose(facts.task.id, worktreePath);
  const { names } = places;
  const begin: BriefedBegin = facts.handback
    ? briefBegin({ why: 'handed_back', target: null, ...facts.handback }, policy.briefing)
    : facts.begin;
  const briefing: Briefing = { ...facts, begin, notes: [...facts.notes, ...places.notes] };
  const prompt = sessionPromptText(briefing, names);
  await contextFiles.write(places, {
    context: agentContextText(briefing, names),
    facts: sessionContextText(briefing, names),
    prompt,
    instructions: agentInstructionsText(),
  });
  const { root, file } = places.prompt;
  return { prompt, promptFile: `${root}/${file}`, systemPrompt: systemPromptText(briefing, names) };
}

function briefBegin(begin: Begin, { entryLength }: Policy['briefing']): BriefedBegin {
  const cut = (text: string | null) => (text === null ? null : excerpt(text, entryLength));
  switch (begin.why) {
    case 'claimed':
    case 'continued':
    case 'retried':
      return begin;
    case 'restarted':
      return { why: begin.why, answer: cut(begin.answer) };
    case 'resumed':
      return {
        why: begin.why,
        message: cut(begin.message),
        ...(begin.attention && {
          attention: { ...begin.attention, reason: excerpt(begin.attention.reason, entryLength) },
        }),
      };
    case 'handed_back':
      return { ...begin, reason: excerpt(begin.reason, entryLength) };
    default:
      return unreachable(begin);
  }
}

async function loadPlan({ board, policy }: BriefingContext, task: Task): Promise<BriefedPlan | null> {
  const plan = task.plan === null ? undefined : await board.get('plan', task.plan);
  if (plan === undefined) return null;
  const { planLength, listedTasks } = policy.briefing;
  const tasks = await board.tasks({ plan: plan.id, order: 'urgent' });
  const { id, title } = plan;
  return { id, title, body: excerpt(plan.body, planLength), tasks: someOf(tasks.map(mention), listedTasks) };
}

/** Without deleted tasks, which no longer hold this one back. */
async function loadDependencies({ board }: BriefingContext, task: Task): Promise<readonly TaskMention[]> {
  const found = await Promise.all(task.dependsOn.map((id) => board.get('task', id)));
  return found.filter((one) => one !== undefined).map(mention);
}

/** A long ledger loses its oldest entries, those of dependencies first. */
async function loadLedger({ board, policy }: BriefingContext, task: Task): Promise<Some<BriefedEntry>> {
  const { ledgerEntries, entryLength } = policy.briefing;
  const own = await board.list('ledger', { task: task.id });
  const lists = await Promise.all(task.dependsOn.map((id) => board.list('ledger', { task: id })));
  const others = lists.flat().toSorted((a, b) => a.at - b.at);
  const { listed, omitted } = lastOf([...others, ...own], ledgerEntries);
  const entries = listed.toSorted((a, b) => a.at - b.at);
  const briefed = ({ text, ...entry }: LedgerEntry): BriefedEntry => {
    return { ...entry, text: excerpt(text, entryLength) };
  };
  return { listed: entries.map(briefed), omitted };
}

async function loadGit(
  context: BriefingContext,
  task: Task,
  { workspace, path }: PreparedWorkspace,
): Promise<GitState | null> {
  const { worktree } = workspace;
  if (worktree === null) return null;
  const { git, merging, rescues, policy } = context;
  const { listedCommits, listedFiles, listedRescues } = policy.briefing;
  const facts = await git.look(path);
  if (facts.state !== 'healthy') throw new Error(`The worktree of ${task.id} at ${path} is no longer usable`);
  const { changed, untracked } = await git.uncommitted(path);
  const { baseCommit, baseBranch } = worktree;
  const count = await git.countCommits(baseCommit, facts.head);
  const commits = count === 0 ? [] : await merging.commits(baseCommit, facts.head, listedCommits);
  const saved = (await rescues.list(task.id)).toSorted((a, b) => b.at - a.at);
  return {
    worktree: path,
    branch: facts.branch,
    ownBranch: worktree.branch,
    base: { branch: baseBranch, commit: baseCommit },
    head: facts.head,
    operation: facts.operation,
    commits: {
      listed: commits.map(({ id, subject }) => ({ id, subject })),
      omitted: Math.max(0, count - commits.length),
    },
    changed: someOf(changed, listedFiles),
    untracked: someOf(untracked, listedFiles),
    rescues: someOf(
      saved.map(({ ref, at, changed: files }) => ({ ref, at, changed: files })),
      listedRescues,
    ),
  };
}

/** Tasks with overlapping areas come first. */
async function loadNearby({ board, policy }: BriefingContext, task: Task): Promise<Some<Neighbour>> {
  const busy = await board.tasks({ statuses: ['in_progress', 'landing'], order: 'urgent' });
  const others = busy.filter(({ id }) => id !== task.id).map((one) => neighbour(task, one));
  const [close, far] = [others.filter(({ meets }) => meets), others.filter(({ meets }) => !meets)];
  return someOf([...close, ...far], policy.briefing.listedTasks);
}

/** Only findings that are still true: branches that moved since the radar's last pass are left out. */
async function loadCollisions(
  { board, policy, radar }: BriefingContext,
  task: Task,
): Promise<Some<Collision>> {
  const { listedTasks } = policy.briefing;
  const collisions: Collision[] = [];
  for (const { other, verdict } of findingsOf(lastSighting(radar)?.pairs ?? [], task.id)) {
    if (verdict.kind !== 'conflict' && verdict.kind !== 'overlap') continue;
    const found = await board.get('task', other);
    const { kind: how, files: listed, omitted } = verdict;
    if (found !== undefined) collisions.push({ ...mention(found), how, files: { listed, omitted } });
  }
  return someOf(collisions, listedTasks);
}

function neighbour(task: Task, other: TaskSummary): Neighbour {
  const { state, areas } = other;
  const overlap = areasOverlap(parsed(task.areas), parsed(areas));
  return {
    ...mention(other),
    agent: state.status === 'in_progress' ? state.claim.agent : null,
    areas,
    meets: overlap.kind === 'overlap' ? overlap.between : null,
  };
}

function parsed(areas: readonly string[]) {
  return areas.map(parseArea).flatMap((read) => (read.kind === 'accepted' ? [read.area] : []));
}

function mention({ id, title, state }: Pick<TaskSummary, 'id' | 'title' | 'state'>): TaskMention {
  return { id, title, status: state.status };
}

function variablesToldOf(
  context: BriefingContext,
  task: Task,
  { session, agent, attempt }: Orders,
  { workspace: { worktree }, path, ports }: PreparedWorkspace,
): Readonly<Record<string, string>> {
  const variables = agentEnvironment({
    task: task.id,
    session,
    agent,
    workItem: task.workItem && { ...task.workItem, title: task.title },
    repositoryRoot: context.root,
    strategy: strategyFor(context, task),
    worktree: worktree && { path, branch: worktree.branch, baseBranch: worktree.baseBranch },
    ports,
  });
  return { ...variables, COPSE_ATTEMPT_ID: attempt };
}
