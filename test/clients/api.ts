/** What a day asks of a client. Each generated client implements it with its own functions and its own types. */

export interface Task {
  readonly id: string;
  readonly title: string;
  readonly status: string;
  readonly plan: string | null;
  readonly priority: string;
  readonly dependsOn: readonly string[];
}

export interface NewTask {
  readonly title: string;
  readonly plan?: string;
  readonly priority?: 'p1' | 'p2' | 'p3' | 'p4' | 'p5';
  readonly dependsOn?: string[];
}

export interface Problem {
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  readonly next: readonly string[];
}

export interface BoardEvent {
  readonly cursor: string;
  readonly number: number;
  readonly type: string;
  readonly id: string;
}

/** As both generators return it: a document, or a problem. */
export interface Answered<T> {
  readonly data?: T | undefined;
  readonly error?: Problem | undefined;
  readonly response?: Response | undefined;
}

type Answer<T> = Promise<Answered<T>>;

export interface Api {
  snapshot(): Answer<{ readonly cursor: string; readonly tasks: readonly Task[] }>;
  /** Until the signal. */
  events(after: string, signal: AbortSignal): AsyncIterable<BoardEvent>;
  eventPage(after: string): Answer<{
    readonly events: readonly BoardEvent[];
    readonly cursor: string;
    readonly hasMore: boolean;
  }>;
  addPlan(title: string): Answer<{ readonly id: string }>;
  plan(id: string): Answer<{ readonly progress: object }>;
  add(task: NewTask, key?: string): Answer<Task>;
  /** All tasks, two on a page. */
  page(cursor?: string): Answer<{ readonly tasks: readonly Task[]; readonly cursor: string | null }>;
  list(etag?: string): Answer<{ readonly tasks: readonly Task[] }>;
  counts(): Answer<{ readonly counts: Readonly<Record<string, number>> }>;
  show(id: string): Answer<Task & { readonly landed: object | null; readonly undone: object | null }>;
  why(id: string): Answer<{ readonly because: readonly string[] }>;
  needsYou(): Answer<{ readonly needsYou: readonly { readonly task: string; readonly kind: string }[] }>;
  question(id: string): Answer<{ readonly question: { readonly id: string; readonly what: string } | null }>;
  allow(id: string, question: string): Answer<{ readonly isAllowed: boolean }>;
  restart(id: string, answer: string): Answer<object>;
  review(id: string): Answer<{
    readonly change: { readonly head: string } | null;
    readonly patch: string | null;
  }>;
  approve(id: string, head: string): Answer<{ readonly head: string; readonly target: string }>;
  sendBack(id: string, comment: string): Answer<{ readonly task: Task }>;
  undoLanding(id: string): Answer<{ readonly commits: readonly unknown[]; readonly undo: Task | null }>;
  pause(id: string): Answer<{ readonly task: Task }>;
  resume(id: string): Answer<{ readonly task: Task }>;
  cancel(id: string, confirm?: 'task.cancel'): Answer<{ readonly task: Task }>;
  delete(
    ids: string[],
    confirm?: 'task.delete',
  ): Answer<{ readonly deleted: readonly { readonly id: string }[] }>;
}

export interface Connection {
  readonly url: string;
  readonly token: string;
}

/** A module with a generated client. */
export interface ClientModule {
  /** A token for the code, which works once. */
  enter(url: string, code: string): Answer<{ readonly token: string }>;
  connect(connection: Connection): Api;
}
