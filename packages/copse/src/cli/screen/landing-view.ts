/** `copse merge` while it waits: one line for each task with its current place in the queue. */

import { loadPlace } from '../../queue/act/view.ts';
import type { RunContext } from '../../queue/context.ts';
import type { Landing } from '../../queue/rules/landing.ts';
import { shown } from '../../kernel/text.ts';
import type { Cli } from '../invocation.ts';
import { entryText } from './queue-text.ts';
import { age } from '../../explain/rules/amounts.ts';
import { Screen } from './screen.ts';

export interface LandingView {
  /** Printed permanently, above the lines that are redrawn. */
  say(lines: readonly string[]): void;
  close(): Promise<void>;
}

export function openLandingView(
  cli: Cli,
  context: RunContext,
  landings: readonly Landing[],
  { json }: { readonly json?: boolean },
): LandingView {
  const canMove = cli.output.isTerminal && cli.env['TERM'] !== 'dumb' && !json;
  return canMove ? new LiveLandingView(cli, context, landings) : plain(cli, { json: json ?? false });
}

function plain({ output }: Cli, { json }: { readonly json: boolean }): LandingView {
  return {
    say: (lines) => {
      if (!json) for (const line of lines) output.line(line);
    },
    close: () => Promise.resolve(),
  };
}

const REDRAW_MS = 500;

class LiveLandingView implements LandingView {
  readonly #cli: Cli;
  readonly #context: RunContext;
  readonly #landings: readonly Landing[];
  readonly #screen: Screen;
  readonly #stop = new AbortController();
  readonly #drawing: Promise<void>;

  constructor(cli: Cli, context: RunContext, landings: readonly Landing[]) {
    this.#cli = cli;
    this.#context = context;
    this.#landings = landings;
    this.#screen = new Screen(cli.output);
    this.#drawing = this.#draw();
  }

  say(lines: readonly string[]): void {
    this.#screen.log(lines);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#drawing;
    this.#screen.close();
  }

  async #draw(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const lines: string[] = [];
      for (const landing of this.#landings) lines.push(...(await this.#line(landing)));
      const foot = this.#cli.output.style('dim', '── Ctrl+C leaves the tasks in the queue ──');
      if (!signal.aborted) this.#screen.draw(lines.length === 0 ? [] : [...lines, foot]);
      await this.#context.clock.sleep(REDRAW_MS, signal);
    }
  }

  async #line(landing: Landing): Promise<readonly string[]> {
    const { clock, landing: settings } = this.#context;
    const { output } = this.#cli;
    const place = await loadPlace(this.#context, settings, landing);
    if (place === undefined) return [];
    const { queue, entry } = place;
    const run = queue.runs.find(({ tasks }) => tasks.includes(landing.task));
    const since = age(run?.since ?? entry.queuedAt, clock.now()).padStart(3);
    return [`${output.style('cyan', '>')} ${landing.task} ${since} ${shown(entryText(entry))}`];
  }
}
