/**
 * One turn in the Agent Client Protocol, from the first message to the agent's last:
 *
 *   initialize → session/new | session/resume | session/load → its mode and model → session/prompt → why it stopped
 *
 * A loaded session repeats its whole past first: messages before the prompt are not of this turn. When a person refuses a tool
 * with a message, the message becomes another prompt, because the protocol has no other way to pass it on.
 */

import type { Permissions, RuntimeOutcome, Turn } from '../../ports/runtime.ts';
import { fields, list, text } from '../fields.ts';
import { type WriteInside, readForAgent, writeForAgent } from './files.ts';
import { outcomeOfError, outcomeOfStop } from './outcome.ts';
import { answerFor, isAllowed, modeFor } from './permissions.ts';
import { NO_SUCH_METHOD, type Rpc, RpcError } from './rpc.ts';
import { type UpdateReader, callOf, readUpdates, whatOf } from './updates.ts';
import type { Transcript } from '../transcript.ts';

export interface SessionSettings {
  readonly permissions: Permissions;
  readonly model?: string;
  readonly systemPrompt?: string;
  /** The session's budget, for agents that take one. */
  readonly dollars?: number;
}

const PROTOCOL_VERSION = 1;
const LEAST_DOLLARS = 0.000_001;

export class AcpSession {
  readonly #settings: SessionSettings;
  readonly #turn: Turn;
  readonly #transcript: Transcript;
  readonly #writeInside: WriteInside;
  readonly #reader: UpdateReader;
  readonly #over = Promise.withResolvers<'over'>();
  #id: string | null = null;
  #isPrompted = false;
  /** A person's messages with refusals that the agent has not been told yet. */
  readonly #refusals: string[] = [];

  constructor(settings: SessionSettings, turn: Turn, transcript: Transcript, writeInside: WriteInside) {
    this.#settings = settings;
    this.#turn = turn;
    this.#transcript = transcript;
    this.#writeInside = writeInside;
    this.#reader = readUpdates(turn, transcript);
  }

  /** Rejects with `RpcClosed` when the program ends before it has answered. */
  async run(rpc: Rpc): Promise<RuntimeOutcome> {
    try {
      const prompt = await this.#open(rpc);
      return await this.#prompt(rpc, prompt);
    } catch (error) {
      if (error instanceof RpcError) return outcomeOfError(error, this.#reader.end(), Date.now());
      throw error;
    } finally {
      this.#over.resolve('over');
    }
  }

  /** Asks the agent to end its turn. */
  cancel(rpc: Rpc): void {
    this.#over.resolve('over');
    if (this.#id !== null) rpc.notify('session/cancel', { sessionId: this.#id });
  }

  takeNotice(method: string, params: unknown): void {
    if (method !== 'session/update' || !this.#isPrompted) return;
    // Subagents have their own sessions.
    if (text(params, 'sessionId') === this.#id) this.#reader.take(fields(params, 'update'));
  }

  async takeRequest(method: string, params: unknown): Promise<unknown> {
    switch (method) {
      case 'session/request_permission': {
        const request = fields(params, 'toolCall');
        const call = callOf(request, this.#reader.toolCall(text(request, 'toolCallId') ?? ''));
        return this.#mayUse(call, (mayUse) => answerFor(mayUse, params));
      }
      case 'fs/read_text_file':
        return readForAgent(this.#turn.folder, params);
      case 'fs/write_text_file': {
        const path = text(params, 'path') ?? '';
        const call = callOf(
          { name: 'write', kind: 'edit', title: 'write', locations: [{ path }] },
          undefined,
        );
        const mayWrite = await this.#mayUse(call, (mayUse) => mayUse);
        if (mayWrite !== true) throw new RpcError(NO_SUCH_METHOD, 'This was not allowed.');
        return writeForAgent(this.#turn.folder, params, this.#writeInside);
      }
      default:
        throw new RpcError(NO_SUCH_METHOD, `${method} is not offered.`);
    }
  }

  /** Opens the session, and returns the prompt for it. */
  async #open(rpc: Rpc): Promise<string> {
    const about = await rpc.request('initialize', {
      protocolVersion: PROTOCOL_VERSION,
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
      clientInfo: { name: 'copse', title: 'Copse', version: '0' },
    });
    const { conversation, folder, prompt } = this.#turn;
    const can = fields(about, 'agentCapabilities');
    const more = fields(can, 'sessionCapabilities');
    const instructions = [this.#settings.systemPrompt, this.#turn.systemPrompt].filter(Boolean).join('\n\n');
    const takesInstructions = fields(more, 'systemPrompt') !== undefined;
    const where = {
      cwd: folder,
      mcpServers: [],
      ...this.#own(text(fields(about, 'agentInfo'), 'name') ?? ''),
      ...(takesInstructions &&
        instructions !== '' && {
          systemPrompt: { mode: 'append', content: [{ type: 'text', text: instructions }] },
        }),
    };
    const how =
      fields(more, 'resume') !== undefined
        ? 'session/resume'
        : can?.['loadSession'] === true
          ? 'session/load'
          : null;
    const isNew = conversation === null || how === null;
    if (conversation !== null && how === null)
      this.#transcript.note('The agent cannot resume an earlier conversation.');
    const session = isNew
      ? await rpc.request('session/new', where)
      : await rpc.request(how, { ...where, sessionId: conversation });
    this.#id = isNew ? requireId(session) : conversation;
    this.#turn.on({ type: 'conversation', id: this.#id });
    await this.#choose(rpc, this.#id, session);
    return isNew && !takesInstructions && instructions !== '' ? `${instructions}\n\n${prompt}` : prompt;
  }

  /** Options that only one agent understands. */
  #own(agent: string): Readonly<Record<string, unknown>> {
    if (!agent.includes('claude')) return {};
    const { permissions, dollars } = this.#settings;
    const options = {
      // Suggestions for the next prompt cost tokens and are not used.
      promptSuggestions: false,
      ...(typeof permissions === 'object' && { allowedTools: permissions.allow }),
      ...(dollars !== undefined && {
        // The agent counts the cost of this turn only.
        maxBudgetUsd: Math.max(LEAST_DOLLARS, dollars - (this.#turn.used.dollars ?? 0)),
      }),
    };
    return { _meta: { claudeCode: { options } } };
  }

  async #choose(rpc: Rpc, sessionId: string, session: unknown): Promise<void> {
    const { permissions, model } = this.#settings;
    const modeId = modeFor(permissions, session);
    if (modeId !== null) await rpc.request('session/set_mode', { sessionId, modeId });
    if (model === undefined) return;
    const option = list(session, 'configOptions').find((one) => text(one, 'category') === 'model');
    const configId = text(option, 'id');
    if (configId !== undefined)
      await rpc.request('session/set_config_option', { sessionId, configId, value: model });
    else if (fields(session, 'models') !== undefined)
      await rpc.request('session/set_model', { sessionId, modelId: model });
    else this.#transcript.note(`The agent has no option for its model: ${model} is not used.`);
  }

  async #prompt(rpc: Rpc, prompt: string): Promise<RuntimeOutcome> {
    this.#isPrompted = true;
    for (let next = prompt; ;) {
      const answer = await rpc.request('session/prompt', {
        sessionId: this.#id,
        prompt: [{ type: 'text', text: next }],
      });
      const usage = fields(answer, 'usage');
      this.#reader.takeUsage(usage);
      const stopReason = text(answer, 'stopReason') ?? 'end_turn';
      const refusals = this.#refusals.splice(0);
      if (refusals.length === 0 || stopReason === 'refusal')
        return outcomeOfStop(stopReason, this.#reader.end(), usage !== undefined, Date.now());
      next = refusals.join('\n\n');
    }
  }

  async #mayUse<T>(
    call: ReturnType<typeof callOf>,
    answer: (mayUse: boolean) => T,
  ): Promise<T | { outcome: { outcome: 'cancelled' } }> {
    if (isAllowed(this.#settings.permissions, call, this.#turn.folder)) return answer(true);
    const tool = call.name ?? call.kind ?? 'tool';
    const what = whatOf(call);
    const refused = { isAllowed: false, message: null };
    const asked = this.#turn.mayUse({ tool, what }).catch(() => refused);
    const said = await Promise.race([asked, this.#over.promise]);
    if (said === 'over') return { outcome: { outcome: 'cancelled' } };
    if (!said.isAllowed) {
      this.#transcript.note(`refused: ${tool} ${what}`);
      this.#refusals.push(
        `You were not allowed to use ${tool}: ${what}\n${said.message ?? 'Continue without it, or say what you need.'}`,
      );
    }
    return answer(said.isAllowed);
  }
}

function requireId(session: unknown): string {
  const id = text(session, 'sessionId');
  if (id === undefined) throw new RpcError(0, 'The agent opened a session without an id.');
  return id;
}
