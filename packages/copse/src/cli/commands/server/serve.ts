import { isPerson } from '../../../board/rules/author.ts';
import { defaultPolicy } from '../../../kernel/policy.ts';
import { boardMark, requireRepository } from '../../../compose/open.ts';
import { openServedBoard } from '../../../compose/board/serve.ts';
import { asServer } from '../../../compose/board/who-runs.ts';
import { openAddress, starterOf } from '../../../compose/on-demand.ts';
import { shellWord } from '../../../kernel/shell.ts';
import { shown } from '../../../kernel/text.ts';
import { fail } from '../../../operations/failure.ts';
import { keptTokens } from '../../../server/kept-tokens.ts';
import { type RunningServer, type ServerOptions, openServer } from '../../../server/server.ts';
import { type TokenFile, writeTokenFile } from '../../../server/token-file.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { waitForBoard } from '../../screen/wait-for-board.ts';
import { type ListenPlace, type PlaceOptions, placeOf } from './place.ts';

interface Options extends PlaceOptions {
  readonly open?: boolean;
}

export async function run({ cli, options }: Invocation<Options>): Promise<void> {
  requirePerson(cli);
  const place = await placeOf(cli, options);
  const waits = waitForBoard(cli);
  const onProblem = (text: string) => cli.output.note(shown(text));
  const starter = await starterOf(cli.env);
  starter?.onGone(() => waits.stop.abort());
  try {
    const { context, tokenFolder, ...served } = await openServedBoard(cli, {
      patience: waits.patience,
      onProblem,
    });
    const serve = async () => {
      const keptFor = tokenFolder === undefined ? undefined : keptOf(cli, tokenFolder, place.host, onProblem);
      const parts = {
        ...place,
        ...context,
        ...served,
        ...(keptFor && { keptFor }),
        onProblem,
        version: cli.version,
      };
      const server = await start(parts, options.port !== undefined);
      const at = { host: place.host, port: server.port };
      let tokenFile: TokenFile | undefined;
      try {
        if (tokenFolder !== undefined) tokenFile = tokenFileOf(tokenFolder, at, server.keys.token, onProblem);
        const address = `${server.url}/#code=${server.keys.newCode()}`;
        const lines = startText(cli, place, server, { address, tokenFile });
        if (starter) starter.tell(lines);
        else for (const line of lines) cli.output.line(line);
        if (options.open) await openBrowser(cli, tokenFolder, address);
        await untilEnd(cli, server, waits.stop.signal);
      } finally {
        tokenFile?.remove();
        await server.close();
      }
    };
    try {
      await asServer(requireRepository(cli).home, serve);
    } finally {
      await context.board.close();
    }
  } finally {
    waits.end();
  }
}

/** Pages that are open go on when the server is started again. */
function keptOf(
  cli: Cli,
  folder: string,
  host: string,
  onProblem: (text: string) => void,
): NonNullable<ServerOptions['keptFor']> {
  const repository = requireRepository(cli).configFolder;
  return (port, limits) => keptTokens({ folder, repository, host, port, limits, onProblem });
}

/** Without it, as on a full disk, the code still gives access. */
function tokenFileOf(
  folder: string,
  at: { readonly host: string; readonly port: number },
  token: string,
  onProblem: (text: string) => void,
): TokenFile | undefined {
  try {
    return writeTokenFile(folder, at, token);
  } catch (error) {
    onProblem(`The token could not be written to a file: ${String(error)}`);
    return undefined;
  }
}

/** A server acts as the person: a process of an agent that lost its token must not start one. */
function requirePerson({ env }: Cli): void {
  if (!isPerson(env))
    fail(
      'not_this_session',
      'copse serve is for people: an agent may only read, add tasks and report about its own task.',
      'copse stuck --reason "…" # to ask a person to do it',
    );
}

interface StartFacts {
  readonly address: string;
  readonly tokenFile: TokenFile | undefined;
}

function startText(
  cli: Cli,
  place: ListenPlace,
  { url, port }: RunningServer,
  { address, tokenFile }: StartFacts,
): readonly string[] {
  const isOther = place.port !== 0 && place.port !== port;
  return [
    `Serving the board at ${url}/api/v1; Ctrl+C stops.`,
    `  Repository: ${shown(requireRepository(cli).configFolder)}`,
    ...(isOther ? [`  Port ${place.port} is in use, so this server has port ${port}.`] : []),
    `  Open once in a browser, within 5 minutes: ${address}`,
    tokenFile
      ? `  curl -H @${shellWord(tokenFile.file)} ${url}/api/v1/snapshot`
      : '  No file has the token: only the code gives access.',
  ];
}

async function openBrowser(cli: Cli, folder: string | undefined, address: string): Promise<void> {
  const opened = await openAddress(address, { env: cli.env, folder });
  if (opened.kind === 'not_opened') cli.output.note(`${opened.reason} Open the address above in a browser.`);
}

/** Until a signal; fails when the board cannot be followed any more. */
async function untilEnd(cli: Cli, server: RunningServer, signal: AbortSignal): Promise<void> {
  const repository = requireRepository(cli);
  const mark = boardMark(repository);
  let timer: NodeJS.Timeout | undefined;
  try {
    const isReplaced = await new Promise<boolean>((resolve, reject) => {
      signal.addEventListener('abort', () => resolve(false));
      timer = setInterval(
        () => boardMark(repository) === mark || resolve(true),
        defaultPolicy.replacedBoard.lookEveryMs,
      );
      server.ended.catch(reject);
      if (signal.aborted) resolve(false);
    });
    if (isReplaced) fail('unavailable', 'The board was removed or replaced.', 'copse serve');
  } finally {
    clearInterval(timer);
  }
}

async function start(options: ServerOptions, isNamed: boolean): Promise<RunningServer> {
  try {
    return await openServer(options);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EADDRINUSE' && !isNamed) return start({ ...options, port: 0 }, true);
    const where = `${options.host}, port ${options.port}`;
    if (code === 'EADDRINUSE')
      return fail('unavailable', `Another program uses ${where}.`, 'copse serve --port 0 # any free port');
    if (code === 'EACCES' || code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
      return fail('unavailable', `This machine cannot listen on ${where} (${code}).`, 'copse serve');
    if (options.tls !== null && /OSSL|PEM|X509/.test(code))
      return fail('invalid', `The certificate and the key cannot be used (${code}).`, 'copse serve --help');
    throw error;
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
}
