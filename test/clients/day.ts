/**
 * A day of a foreign program: it enters with the code, adds work, follows the events, answers, reviews, takes back, and keeps
 * its own account of every task. It uses only what the API tells; the test compares the account with the board.
 */

import { expect } from 'vitest';

import type { Answered, Api, BoardEvent, ClientModule, NewTask, Problem, Task } from './api.ts';

export interface Account {
  /** What the client holds to be true of each task, by id. */
  readonly tasks: ReadonlyMap<string, Believed>;
  readonly documents: readonly Task[];
  readonly events: readonly BoardEvent[];
  readonly plan: { readonly id: string; readonly document: object };
}

type Believed = Pick<Task, 'title' | 'status' | 'plan' | 'priority' | 'dependsOn'>;

export class Day {
  readonly #api: Api;
  readonly #tasks = new Map<string, Believed>();
  readonly #events: BoardEvent[] = [];
  readonly #stop = new AbortController();
  #news = Promise.withResolvers<void>();
  #following: Promise<void> = Promise.resolve();

  private constructor(api: Api) {
    this.#api = api;
  }

  static async begin(client: ClientModule, url: string, code: string): Promise<Day> {
    const { token } = done(await client.enter(url, code));
    expect(refused(await client.enter(url, code))).toMatchObject({ status: 401, code: 'unauthorized' });
    const stranger = await client.connect({ url, token: 'A'.repeat(43) }).snapshot();
    expect(refused(stranger)).toMatchObject({ title: 'Unauthorized', status: 401 });
    const day = new Day(client.connect({ url, token }));
    const { cursor, tasks } = done(await day.#api.snapshot());
    expect(tasks).toEqual([]);
    day.#following = day.#follow(cursor);
    // Who waits for news hears of it.
    day.#following.catch(() => {});
    return day;
  }

  /** `orchestrate` starts agents, when there is work for them. */
  async live(orchestrate: () => void): Promise<Account> {
    const { id: plan } = done(await this.#api.addPlan('Loader'));
    const loader = await this.#add({ title: 'Rename the loader', plan, priority: 'p5' });
    const docs = await this.#add({ title: 'Document the loader', plan, dependsOn: [loader] });
    const menu = await this.#addTwice({ title: 'Paint the menu' });
    const index = await this.#add({ title: 'Write the index' });
    await this.#wrongRequests(docs);
    await this.#looks(docs, loader);

    orchestrate();
    // Paused while its agent waits for an answer.
    await this.#asked(index, 'make index');
    this.#believe(done(await this.#api.pause(index)).task, 'paused');
    await this.#allows(loader, 'make rename');
    await this.#approves(loader);
    await this.#answers(menu, 'green');
    await this.#approves(menu, { plus: 'green' });
    // The documents could start only when the loader had landed.
    await this.#sendsBack(docs, 'Say it in two lines.');
    await this.#approves(docs, { plus: 'second line' });
    await this.#takesBack(menu);
    done(await this.#api.resume(index));
    await this.#allows(index, 'make index');
    await this.#becomes(index, 'in_review');
    await this.#destroys(index);
    return this.#evening(plan);
  }

  async #add(task: NewTask): Promise<string> {
    const added = done(await this.#api.add(task));
    this.#believe(added);
    expect(added).toMatchObject({ ...task, status: task.dependsOn ? 'pending' : 'ready' });
    return added.id;
  }

  /** The answer to the first request is lost, as far as the client knows. */
  async #addTwice(task: NewTask): Promise<string> {
    const [first, again] = [await this.#api.add(task, 'key-1'), await this.#api.add(task, 'key-1')];
    expect(again.response?.status).toBe(201);
    expect(done(again)).toEqual(done(first));
    const other = await this.#api.add({ title: 'Another' }, 'key-1');
    expect(refused(other).status).toBe(422);
    this.#believe(done(again));
    return done(again).id;
  }

  async #wrongRequests(docs: string): Promise<void> {
    const wrong = refused(await this.#api.add({ title: 'x', dependsOn: ['cp-none'] }));
    expect(wrong).toMatchObject({
      status: 404,
      code: 'not_found',
      detail: expect.stringContaining('cp-none'),
    });
    const early = refused(await this.#api.approve(docs, 'abcdef1'));
    expect({ ...early, isHelpful: early.next.some((line) => line.startsWith('copse ')) }).toMatchObject({
      status: 409,
      code: 'wrong_status',
      isHelpful: true,
    });
  }

  async #looks(docs: string, loader: string): Promise<void> {
    const seen = await this.#pages();
    expect(new Set(seen.map(({ id }) => id))).toEqual(new Set(this.#tasks.keys()));
    const { response } = await this.#api.list();
    const etag = response?.headers.get('etag') ?? '';
    const same = await this.#api.list(etag);
    expect({ status: same.response?.status, hasError: refusedOrNone(same) }).toEqual({
      status: 304,
      hasError: undefined,
    });
    const { counts } = done(await this.#api.counts());
    expect(counts).toMatchObject({ ready: 3, pending: 1, done: 0 });
    expect(done(await this.#api.why(docs)).because.join(' ')).toContain(loader);
    await this.#add({ title: 'Scratch' });
    expect((await this.#api.list(etag)).response?.status).toBe(200);
    const scratch = [...this.#tasks].find(([, { title }]) => title === 'Scratch')?.[0] ?? '';
    expect(refused(await this.#api.delete([scratch]))).toMatchObject({
      status: 428,
      code: 'needs_confirmation',
    });
    const deleted = await this.#api.delete([scratch], 'task.delete');
    expect(done(deleted).deleted).toMatchObject([{ id: scratch }]);
    this.#tasks.delete(scratch);
    expect(refused(await this.#api.show(scratch)).status).toBe(404);
  }

  async #allows(id: string, what: string): Promise<void> {
    expect(done(await this.#api.allow(id, await this.#asked(id, what))).isAllowed).toBe(true);
  }

  async #asked(id: string, what: string): Promise<string> {
    const question = await this.#until(async () => done(await this.#api.question(id)).question ?? undefined);
    expect(question.what).toContain(what);
    const { needsYou } = done(await this.#api.needsYou());
    expect(needsYou.find(({ task }) => task === id)?.kind).toBe('permission');
    return question.id;
  }

  async #answers(id: string, answer: string): Promise<void> {
    await this.#becomes(id, 'stuck');
    done(await this.#api.restart(id, answer));
  }

  async #approves(id: string, { plus = id, minus }: { plus?: string; minus?: string } = {}): Promise<void> {
    await this.#becomes(id, 'in_review');
    const { change, patch } = done(await this.#api.review(id));
    expect(patch).toContain(minus === undefined ? `+${plus}\n` : `-${minus}\n`);
    const head = change?.head ?? '';
    expect(done(await this.#api.approve(id, head))).toMatchObject({ head, target: 'main' });
    await this.#becomes(id, 'done');
    expect(this.#events.some(({ type }) => type === 'landing.landed')).toBe(true);
  }

  async #sendsBack(id: string, comment: string): Promise<void> {
    await this.#becomes(id, 'in_review');
    const { head } = done(await this.#api.review(id)).change ?? {};
    this.#believe(done(await this.#api.sendBack(id, comment)).task);
    await this.#until(async () => {
      const { status } = done(await this.#api.show(id));
      if (status !== 'in_review') return undefined;
      return done(await this.#api.review(id)).change?.head === head ? undefined : true;
    });
  }

  async #takesBack(id: string): Promise<void> {
    expect(done(await this.#api.show(id))).toMatchObject({ landed: expect.anything(), undone: null });
    const { commits, undo } = done(await this.#api.undoLanding(id));
    expect(commits).toHaveLength(1);
    // It lands like all other work.
    await this.#approves(undo?.id ?? '', { minus: 'green' });
    expect(done(await this.#api.show(id)).undone).not.toBeNull();
  }

  async #destroys(id: string): Promise<void> {
    expect(refused(await this.#api.cancel(id))).toMatchObject({ status: 428, code: 'needs_confirmation' });
    const cancelled = await this.#api.cancel(id, 'task.cancel');
    expect(cancelled.response?.headers.get('copse-undo')).toContain('branch stay');
    this.#believe(done(cancelled).task, 'cancelled');
  }

  async #evening(plan: string): Promise<Account> {
    const documents = await this.#pages();
    const events: BoardEvent[] = [];
    for (let after = '0', hasMore = true; hasMore;) {
      const page = done(await this.#api.eventPage(after));
      events.push(...page.events);
      ({ cursor: after, hasMore } = page);
    }
    await this.#until(() => Promise.resolve(this.#events.length >= events.length || undefined));
    this.#stop.abort();
    await this.#following;
    // Pages and the stream tell the same, each event once.
    expect(this.#events).toEqual(events);
    const document = done(await this.#api.plan(plan));
    return { tasks: this.#tasks, documents, events, plan: { id: plan, document } };
  }

  async #pages(): Promise<readonly Task[]> {
    const tasks: Task[] = [];
    let cursor: string | null | undefined;
    while (cursor !== null) {
      const page = done(await this.#api.page(cursor));
      expect(page.tasks.length).toBeLessThanOrEqual(2);
      tasks.push(...page.tasks);
      ({ cursor } = page);
    }
    return tasks;
  }

  #believe({ id, title, status, plan, priority, dependsOn }: Task, as = status): void {
    expect({ id, status }).toEqual({ id, status: as });
    this.#tasks.set(id, { title, status, plan, priority, dependsOn });
  }

  async #becomes(id: string, status: string): Promise<void> {
    const task = await this.#until(async () => {
      const shown = done(await this.#api.show(id));
      return shown.status === status ? shown : undefined;
    });
    this.#believe(task, status);
  }

  /** Looks again after each event, and only then. */
  async #until<T>(look: () => Promise<T | undefined>): Promise<T> {
    for (;;) {
      const news = this.#news.promise;
      const found = await look();
      if (found !== undefined) return found;
      await Promise.race([news, this.#following]);
    }
  }

  async #follow(after: string): Promise<void> {
    try {
      for await (const event of this.#api.events(after, this.#stop.signal)) {
        this.#events.push(event);
        this.#news.resolve();
        this.#news = Promise.withResolvers();
      }
    } catch (error) {
      if (!this.#stop.signal.aborted) throw error;
    }
  }
}

function done<T>({ data, error, response }: Answered<T>): T {
  if (data === undefined) throw new Error(`${response?.status} ${JSON.stringify(error)}`);
  return data;
}

function refused({ data, error, response }: Answered<unknown>): Problem {
  if (error === undefined) throw new Error(`It was not refused: ${JSON.stringify(data)}`);
  expect(response?.headers.get('content-type')).toBe('application/problem+json');
  expect(error.status).toBe(response?.status);
  return error;
}

/** Of an answer without a body: a problem would have a code. */
function refusedOrNone({ error }: Answered<unknown>): string | undefined {
  return error?.code;
}
