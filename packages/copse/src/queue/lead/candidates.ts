/**
 * Caches the results of merges: the decision asks about the same stacks again and again. Commits never change, so results
 * stay true when the target moves.
 */

import { defaultPolicy } from '../../kernel/policy.ts';
import type { CommitId } from '../../kernel/ids.ts';
import type { Stack, Stacked } from '../rules/decide/stack.ts';
import type { QueuedChange } from '../rules/decide/state.ts';
import type { Candidate } from '../ports/merging.ts';
import { detailOf, isFaultOfMachine } from '../rules/failures.ts';

type Built = Extract<Candidate, { kind: 'built' }>;

interface Facts {
  build(onto: CommitId, change: QueuedChange): Promise<Candidate>;
  treeOf(commit: CommitId): Promise<string>;
  /** Whether a tree passed all checks. */
  isGreen(tree: string): Promise<boolean>;
}

/** Merging it failed unexpectedly. */
interface FailedBuild {
  readonly kind: 'failed';
  readonly detail: string;
}

export type Misfit = Exclude<Candidate, Built> | FailedBuild;

const MOST = defaultPolicy.mergeMemory.candidates;

export class Candidates {
  readonly #facts: Facts;
  readonly #built = new Map<string, Candidate | FailedBuild>();
  readonly #trees = new Map<CommitId, string>();
  readonly #green = new Map<string, boolean>();

  constructor(facts: Facts) {
    this.#facts = facts;
  }

  /** Undefined when it is not in the cache. */
  look({ onto, changes }: Stack): Stacked | undefined {
    let commit = onto;
    for (const [at, change] of changes.entries()) {
      const candidate = this.#built.get(keyOf(commit, change));
      if (candidate === undefined) return undefined;
      if (candidate.kind !== 'built') return { kind: 'conflict', at };
      commit = candidate.commit;
    }
    const tree = this.#trees.get(commit);
    const isGreen = tree === undefined ? undefined : this.#green.get(tree);
    return isGreen === undefined ? undefined : { kind: 'merged', commit, isGreen };
  }

  async find({ onto, changes }: Stack): Promise<void> {
    if (this.#built.size > MOST) this.#built.clear();
    let commit = onto;
    for (const change of changes) {
      const candidate = await this.#build(commit, change);
      if (candidate.kind !== 'built') return;
      commit = candidate.commit;
    }
    await this.#findVerdict(commit);
  }

  /** Each change of a stack that fits, with what it becomes. */
  async steps({ onto, changes }: Stack): Promise<readonly (QueuedChange & Built)[]> {
    const steps: (QueuedChange & Built)[] = [];
    let commit = onto;
    for (const change of changes) {
      const candidate = await this.#build(commit, change);
      if (candidate.kind !== 'built') throw new Error(`${change.task} no longer merges`);
      steps.push({ ...change, ...candidate });
      commit = candidate.commit;
    }
    return steps;
  }

  /** Why a change cannot be merged; undefined when it can, or is not in the cache. */
  misfit(onto: CommitId, change: QueuedChange): Misfit | undefined {
    const candidate = this.#built.get(keyOf(onto, change));
    return candidate?.kind === 'built' ? undefined : candidate;
  }

  async treeOf(commit: CommitId): Promise<string> {
    const known = this.#trees.get(commit) ?? (await this.#facts.treeOf(commit));
    this.#trees.set(commit, known);
    return known;
  }

  /** It is merged again when it is asked for. */
  forgetFailed({ landing }: QueuedChange): void {
    for (const [key, candidate] of this.#built)
      if (key.includes(` ${landing} `) && candidate.kind === 'failed') this.#built.delete(key);
  }

  /** Forgets what was built on neither of these, directly or on others of them, and returns those commits. */
  keepOnly(bases: readonly CommitId[]): readonly CommitId[] {
    const kept = new Set<string>(bases);
    const forgotten: CommitId[] = [];
    // In the order of building, so that a candidate comes after the one it was built on.
    for (const [key, candidate] of this.#built) {
      const commit = candidate.kind === 'built' ? candidate.commit : undefined;
      const isKept = kept.has(ontoOf(key));
      if (!isKept) this.#built.delete(key);
      if (commit === undefined) continue;
      if (isKept) kept.add(commit);
      else forgotten.push(commit);
    }
    for (const commit of this.#trees.keys()) if (!kept.has(commit)) this.#trees.delete(commit);
    const trees = new Set(this.#trees.values());
    for (const tree of this.#green.keys()) if (!trees.has(tree)) this.#green.delete(tree);
    return forgotten.filter((commit) => !kept.has(commit));
  }

  /** A check of this tree ended, so its cached verdict is stale. */
  forgetVerdict(tree: string): void {
    this.#green.delete(tree);
  }

  async #build(onto: CommitId, change: QueuedChange): Promise<Candidate | FailedBuild> {
    const key = keyOf(onto, change);
    const known = this.#built.get(key);
    if (known !== undefined) return known;
    const candidate = await this.#tryToBuild(onto, change);
    this.#built.set(key, candidate);
    return candidate;
  }

  /** What is wrong with one change must not stop the others. */
  async #tryToBuild(onto: CommitId, change: QueuedChange): Promise<Candidate | FailedBuild> {
    try {
      return await this.#facts.build(onto, change);
    } catch (error) {
      if (isFaultOfMachine(error)) throw error;
      return { kind: 'failed', detail: detailOf(error) };
    }
  }

  async #findVerdict(commit: CommitId): Promise<void> {
    const tree = await this.treeOf(commit);
    if (!this.#green.has(tree)) this.#green.set(tree, await this.#facts.isGreen(tree));
  }
}

function ontoOf(key: string): string {
  return key.slice(0, key.indexOf(' '));
}

function keyOf(onto: CommitId, { landing, head }: QueuedChange): string {
  return `${onto} ${landing} ${head}`;
}
