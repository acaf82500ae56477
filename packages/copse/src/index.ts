/** The library: what integrators may build on. Everything else is free to change. */

export { type Context, type Outcome } from './board/context.ts';
export { type ClaimRequest, claimNext, claimTask } from './tasks/act/claims.ts';
export { type DefinitionInput } from './tasks/act/definition.ts';
export { type FollowOptions, followEvents } from './board/follow.ts';
export { type ArtifactContext, type ArtifactInput, addArtifact } from './agents/act/artifacts.ts';
export { type LedgerInput, addLedgerEntry } from './tasks/act/ledger.ts';
export { type PlanInput, addPlan } from './tasks/act/plans.ts';
export { type TaskEditInput, addTask, deleteTasks, editTask } from './tasks/act/tasks.ts';
export { type Surroundings, openContext } from './compose/open.ts';
export type { Refusal } from './kernel/decision.ts';
export type { BoardEvent, RecordedEvent } from './board/rules/event.ts';
export type { Task, TaskStatus, TaskSummary } from './tasks/rules/task.ts';
export { type Board, BoardUnavailable } from './board/port.ts';
export { type Received, receiveRequest } from './intake/act/triggers.ts';
export { type SecretPlaces, openSignatures } from './intake/signatures/verify.ts';
