/** Sends requests, lets ports fail or hang, and checks that each outcome is the one that the model predicts. */
import { expect } from 'vitest';

import type { OperationId } from '../../src/reseller/operation.ts';
import type { Fault, HangingCall } from '../ports/port-calls.ts';
import type { Reply, Sent } from './client.ts';
import { settleModel } from './model-jobs.ts';
import type { ModelAccount, ModelVm } from './model.ts';
import type { Simulation } from './simulation.ts';

/** A refusal that the model predicts. */
export interface Refused {
  readonly status: number;
  readonly type: string;
}

export const wrongState: Refused = { status: 409, type: 'wrong_state' };
export const notFound: Refused = { status: 404, type: 'not_found' };
export const invalid: Refused = { status: 422, type: 'validation_failed' };
export const noCredit: Refused = { status: 402, type: 'credit_limit_exceeded' };
export const noRoom: Refused = { status: 409, type: 'out_of_capacity' };
const inProgress: Refused = { status: 409, type: 'idempotency_key_in_progress' };
const keyReused: Refused = { status: 409, type: 'idempotency_key_reused' };
export const priceTooHigh: Refused = { status: 412, type: 'precondition_failed' };
/** The response to a change whose port failed. The service undoes the change without a trace, or finishes it later. */
export const portAway: Refused = { status: 503, type: 'unavailable' };
/** The response to a change whose port failed, and which may leave a trace although it is undone. */
export const uncertain: Refused = { status: 500, type: 'internal_error' };

/** The refusal of a change that is possible during another change of the VM. */
export function removedOrBlocked({ state, abuse }: ModelVm): Refused | undefined {
  if (state === 'removed') return notFound;
  return abuse.status === 'BLOCKED' ? wrongState : undefined;
}

/** The reservation of a request in the model until the request ends. */
export interface Reserved<Id extends OperationId> {
  /** Applies the successful request to the model. */
  confirm(reply: Reply<Id>): void | Promise<void>;
  /** Undoes the request in the model, or finishes a change that the service never undoes. */
  release(): void;
}

/** The outcome of a request that the model predicts. */
export interface Prediction<Id extends OperationId> {
  /** The refusal before the service calls a port; undefined if there is none. */
  readonly refusal: Refused | undefined;
  /** The refusal by a port. */
  readonly portRefusal?: Refused | undefined;
  /** Whether the request calls a port, whether undoing it calls one, or whether the service repeats the call until it succeeds. */
  readonly portUse: 'no port' | 'a port' | 'a port, and one to undo it' | 'a port, until it succeeds';
  /** The name of its delivery in the store. Default: the name of the operation. */
  readonly delivery?: string;
  /** The domain that it cancels. */
  readonly subject?: string;
  /** The refusal if a port fails. Default: `portAway`. */
  readonly portFailure?: Refused;
  /** Makes the same reservation in the model as the service has made. */
  reserve(): Reserved<Id> | Promise<Reserved<Id>>;
}

export interface PlannedRequest<Id extends OperationId> {
  readonly account: ModelAccount;
  readonly id: Id;
  readonly sent: Sent;
  /** Another form for the same operation, to repeat the key with another request. */
  readonly otherForm?: Readonly<Record<string, unknown>>;
  /** Returns the outcome that the model predicts at this moment. */
  predict(): Prediction<Id>;
}

/** The maximum number of calls that hang at the same time. */
const MAX_HANGING_CALLS = 3;

/**
 * Sends a request and checks that its outcome is the one that the model predicts. Some port calls fail or hang. A hanging request stays
 * in `openRequests` until a later step ends it.
 *
 * @param key The Idempotency-Key. By default, the seed decides whether the request has one.
 */
export async function send<Id extends OperationId>(sim: Simulation, planned: PlannedRequest<Id>, key = newKey(sim)): Promise<void> {
  const { account, id } = planned;
  settleModel(sim, account);
  const prediction = planned.predict();
  const sent = { ...planned.sent, key };
  if (prediction.refusal) {
    const reply = await sim.client.call(account, id, sent);
    expectRefused(reply, prediction.refusal);
    sim.describe(`${id} of ${account.name} is refused: ${prediction.refusal.type}`);
    return remember(sim, planned, key, undefined);
  }
  const { fault, undoing } = faultsOf(sim, prediction.portUse);
  sim.world.calls.plan = prediction.portUse === 'no port' ? [] : [fault, undoing];
  const response = sim.client.call(account, id, sent);
  const hanging = Promise.withResolvers<HangingCall>();
  sim.world.calls.onHang = hanging.resolve;
  const first = await Promise.race([response, hanging.promise]);
  const reserved = await prediction.reserve();
  if ('end' in first) return hang(sim, planned, { key, prediction, reserved, response, call: first });
  await settleRequest(sim, planned, { key, prediction, reserved, reply: first, fails: fault !== 'none', undoing });
}

interface Course<Id extends OperationId> {
  readonly key: string | undefined;
  readonly prediction: Prediction<Id>;
  readonly reserved: Reserved<Id>;
}

function hang<Id extends OperationId>(
  sim: Simulation,
  planned: PlannedRequest<Id>,
  course: Course<Id> & { readonly response: Promise<Reply<Id>>; readonly call: HangingCall },
): void {
  const { account, id } = planned;
  const { key, prediction, reserved, response, call } = course;
  sim.describe(`${id} of ${account.name} hangs`);
  sim.world.calls.plan = [];
  remember(sim, planned, key, undefined);
  const openRequest = {
    ...openRequestOf(planned, course),
    hanging: {
      call,
      async finish(outcome: 'continues' | 'fails') {
        const undoing = undoingOf(sim, prediction.portUse);
        sim.world.calls.plan = [undoing];
        call.end(outcome);
        const reply = await response;
        await settleRequest(sim, planned, { key, prediction, reserved, reply, fails: outcome === 'fails', undoing });
      },
    },
  };
  sim.openRequests.push(openRequest);
}

function openRequestOf<Id extends OperationId>({ account, id }: PlannedRequest<Id>, { key, prediction, reserved }: Course<Id>) {
  const { delivery = id, subject } = prediction;
  return { delivery, key, account, release: reserved.release, ...(subject !== undefined && { subject }) };
}

async function settleRequest<Id extends OperationId>(
  sim: Simulation,
  planned: PlannedRequest<Id>,
  course: Course<Id> & { readonly reply: Reply<Id>; readonly fails: boolean; readonly undoing: Fault },
): Promise<void> {
  const { account, id } = planned;
  const { key, prediction, reserved, reply, fails, undoing } = course;
  const isRepeated = prediction.portUse === 'a port, until it succeeds' && undoing === 'none';
  const refusal = fails && !isRepeated ? (prediction.portFailure ?? portAway) : prediction.portRefusal;
  sim.world.calls.plan = [];
  if (!refusal) {
    expect(reply.status, `${id} of ${account.name}: ${reply.text}`).toBe(200);
    await reserved.confirm(reply);
    sim.describe(`${id} of ${account.name} succeeds`);
    return remember(sim, planned, key, reply.text);
  }
  const isStuck = undoing !== 'none' && prediction.portUse !== 'a port';
  expectRefused(reply, refusal);
  sim.describe(`${id} of ${account.name} ${isStuck ? 'fails and is settled later' : 'fails and is undone'}`);
  remember(sim, planned, key, undefined);
  if (isStuck) sim.openRequests.push({ ...openRequestOf(planned, course), hanging: undefined });
  else reserved.release();
}

/** Remembers a request with a key, so that a later step can repeat it. */
function remember<Id extends OperationId>(
  sim: Simulation,
  planned: PlannedRequest<Id>,
  key: string | undefined,
  response: string | undefined,
): void {
  if (key === undefined) return;
  const { account, id, otherForm } = planned;
  const earlier = sim.repeatables.findIndex((one) => one.key === key && one.account === account);
  if (earlier >= 0) sim.repeatables.splice(earlier, 1);
  sim.repeatables.push({
    account,
    key,
    at: sim.clock.now(),
    response,
    isChangeable: otherForm !== undefined,
    resend: (changed) => sim.client.call(account, id, { ...planned.sent, ...(changed && otherForm && { form: otherForm }), key }),
    retry: () => send(sim, planned, key),
  });
}

/** The service keeps a key at least this long. */
const KEY_LIFETIME_MS = 86_400_000;

/** Repeats an earlier request with its key. */
export async function repeat(sim: Simulation): Promise<void> {
  const recent = sim.repeatables.filter(({ at }) => sim.clock.now() - at < KEY_LIFETIME_MS);
  // A request in progress and a request that failed are rare among the latest requests.
  const withoutResponse = recent.filter(({ response }) => response === undefined);
  const earlier = sim.dice.pickAny(withoutResponse.length > 0 && sim.dice.chance(0.5) ? withoutResponse : recent.slice(-12));
  if (!earlier) return sim.describe('nothing to repeat');
  const { account, key, response, isChangeable } = earlier;
  const isInProgress = sim.openRequests.some((one) => one.key === key && one.account === account);
  if (response === undefined && !isInProgress) {
    sim.describe(`${account.name} retries a request that had no effect`);
    return earlier.retry();
  }
  const isChanged = isChangeable && sim.dice.chance(0.3);
  const reply = await earlier.resend(isChanged);
  sim.describe(
    `${account.name} repeats a ${isInProgress ? 'request in progress' : 'successful request'}${isChanged ? ' with another form' : ''}`,
  );
  if (isChanged || isInProgress) return expectRefused(reply, isChanged ? keyReused : inProgress);
  expect(reply).toMatchObject({ status: 200, text: response });
}

export function expectRefused(reply: { status: number; errorType: string | null; text: string }, { status, type }: Refused): void {
  expect({ status: reply.status, type: reply.errorType }, `response: ${reply.text}`).toEqual({ status, type });
}

function newKey(sim: Simulation): string | undefined {
  return sim.dice.chance(0.4) ? `key-${sim.dice.integer(0, 2 ** 40)}` : undefined;
}

function faultsOf(sim: Simulation, portUse: Prediction<OperationId>['portUse']): { fault: Fault; undoing: Fault } {
  if (portUse === 'no port' || sim.dice.chance(0.6)) return { fault: 'none', undoing: 'none' };
  const isFull = sim.openRequests.filter(({ hanging }) => hanging).length >= MAX_HANGING_CALLS;
  const fault = sim.dice.pick<Fault>(
    isFull ? ['fails before', 'fails after'] : ['fails before', 'fails after', 'hangs before', 'hangs after'],
  );
  return { fault, undoing: undoingOf(sim, portUse) };
}

function undoingOf(sim: Simulation, portUse: Prediction<OperationId>['portUse']): Fault {
  return (portUse === 'a port, and one to undo it' || portUse === 'a port, until it succeeds') && sim.dice.chance(0.3)
    ? sim.dice.pick<Fault>(['fails before', 'fails after'])
    : 'none';
}
