/** `.copse/session-context.json`: the briefing for programs. Field names are stable; a change raises the version. */

import type { Briefing, ContextNames, Excerpt, Some } from '../../rules/briefing/briefing.ts';
import { formatPriority } from '../../../tasks/rules/priority.ts';
import { time } from '../../../kernel/time.ts';

const VERSION = 1;

/** Escapes DEL, C1 controls and bidirectional controls, so that it can be printed safely. */
export function sessionContextText(briefing: Briefing, names: ContextNames): string {
  const text = JSON.stringify(sessionContextView(briefing, names), null, 2);
  const escaped = text.replaceAll(
    /[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `${escaped}\n`;
}

function sessionContextView(briefing: Briefing, names: ContextNames) {
  const { task, plan, git, begin } = briefing;
  return {
    version: VERSION,
    writtenAt: time(briefing.at),
    task: {
      ...task,
      body: textView(task.body),
      priority: formatPriority(task.priority),
    },
    session: briefing.session,
    attempt: briefing.attempt,
    agent: briefing.agent,
    begin: {
      why: begin.why,
      crashes: begin.why === 'retried' ? begin.crashes : null,
      answer: begin.why === 'restarted' && begin.answer ? textView(begin.answer) : null,
      message: begin.why === 'resumed' && begin.message ? textView(begin.message) : null,
      attention:
        begin.why === 'resumed' && begin.attention
          ? { because: begin.attention.because, reason: textView(begin.attention.reason) }
          : null,
      handback:
        begin.why === 'handed_back'
          ? { because: begin.because, reason: textView(begin.reason), target: begin.target }
          : null,
    },
    plan: plan && {
      id: plan.id,
      title: plan.title,
      body: textView(plan.body),
      tasks: listView(plan.tasks, (one) => one),
    },
    imports: briefing.imports,
    resultFolder: briefing.resultFolder,
    dependencies: briefing.dependencies,
    ledger: listView(briefing.ledger, (entry) => ({
      ...entry,
      at: time(entry.at),
      text: textView(entry.text),
    })),
    git: git && {
      ...git,
      commits: listView(git.commits, (one) => one),
      changed: listView(git.changed, (one) => one),
      untracked: listView(git.untracked, (one) => one),
      rescues: listView(git.rescues, (one) => ({ ...one, at: time(one.at) })),
    },
    nearby: listView(briefing.nearby, (one) => one),
    collisions: listView(briefing.collisions, ({ files, ...one }) => ({
      ...one,
      files: listView(files, (file) => file),
    })),
    crashes: briefing.crashes,
    environment: briefing.environment,
    notes: briefing.notes,
    files: names,
  };
}

function textView({ text, omitted }: Excerpt) {
  return { text, omittedCharacters: omitted };
}

function listView<T, V>({ listed, omitted }: Some<T>, view: (one: T) => V) {
  return { listed: listed.map(view), omitted };
}
