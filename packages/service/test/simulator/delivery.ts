/** Sends requests, with or without the ports' help, and has the model follow what becomes of them. */
import { expect } from 'vitest';

import type { OperationId } from '../../src/reseller/operation.ts';
import type { Fault, HangingCall } from '../ports/port-calls.ts';
import type { Reply, Sent } from './client.ts';
import { settleModel } from './model-due.ts';
import type { ModelAccount } from './model.ts';
import type { Simulation } from './simulation.ts';

/** A refusal that the model foresees. */
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
/** The answer to a change that is undone or finished later, because its port failed. */
export const portAway: Refused = { status: 503, type: 'unavailable' };
const failed: Refused = { status: 500, type: 'internal_error' };

/** The reservation of a request in the model, until the request has a response. */
export interface Reserved<Id extends OperationId> {
  /** Makes it final. */
  confirm(reply: Reply<Id>): void | Promise<void>;
  /** Undoes it; for a change that is finished whatever happens, finishes it. */
  release(): void;
}

/** One request, and what the model foresees of it. */
export interface Prospect<Id extends OperationId> {
  /** The refusal before the service calls a port; undefined if there is none. */
  readonly refusal: Refused | undefined;
  /** The refusal by a port. */
  readonly portRefusal?: Refused | undefined;
  /** Whether it asks a port, whether undoing it asks one, and whether the port is asked until it succeeds. */
  readonly asks: 'no port' | 'a port' | 'a port, and one to undo it' | 'a port, until it succeeds';
  /** The name of its delivery; that of the operation by default. */
  readonly delivery?: string;
  /** The domain that it cancels. */
  readonly subject?: string;
  /** The refusal if a port fails. */
  readonly portFailure?: Refused;
  /** Takes in the model what the service has reserved. */
  reserve(): Reserved<Id> | Promise<Reserved<Id>>;
}

export interface Order<Id extends OperationId> {
  readonly account: ModelAccount;
  readonly id: Id;
  readonly sent: Sent;
  /** A form that is another request, of the same operation. */
  readonly otherForm?: Readonly<Record<string, unknown>>;
  /** Returns the outcome that the model predicts at this moment. */
  prospect(): Prospect<Id>;
}

/** The maximum number of calls that hang at the same time. */
const MOST_HANGING = 3;

/**
 * Sends a request and checks that what becomes of it is what the model foresees. Now and then a
 * port fails or hangs; what hangs stays under way until a later step.
 *
 * @param key The Idempotency-Key; the seed decides whether there is one where none is given.
 */
export async function send<Id extends OperationId>(sim: Simulation, order: Order<Id>, key = newKey(sim)): Promise<void> {
  const { account, id } = order;
  settleModel(sim, account);
  const prospect = order.prospect();
  const sent = { ...order.sent, key };
  if (prospect.refusal) {
    const reply = await sim.client.call(account, id, sent);
    expectRefused(reply, prospect.refusal);
    sim.say(`${id} of ${account.name} is refused: ${prospect.refusal.type}`);
    return remember(sim, order, key, undefined);
  }
  const { fault, undoing } = faultsOf(sim, prospect.asks);
  sim.world.calls.plan = prospect.asks === 'no port' ? [] : [fault, undoing];
  const answer = sim.client.call(account, id, sent);
  const hanging = Promise.withResolvers<HangingCall>();
  sim.world.calls.onHang = hanging.resolve;
  const first = await Promise.race([answer, hanging.promise]);
  const reserved = await prospect.reserve();
  if ('letGo' in first) return hang(sim, order, { key, prospect, reserved, answer, call: first });
  await settle(sim, order, { key, prospect, reserved, reply: first, fails: fault !== 'none', undoing });
}

interface Course<Id extends OperationId> {
  readonly key: string | undefined;
  readonly prospect: Prospect<Id>;
  readonly reserved: Reserved<Id>;
}

function hang<Id extends OperationId>(
  sim: Simulation,
  order: Order<Id>,
  course: Course<Id> & { readonly answer: Promise<Reply<Id>>; readonly call: HangingCall },
): void {
  const { account, id } = order;
  const { key, prospect, reserved, answer, call } = course;
  sim.say(`${id} of ${account.name} hangs`);
  sim.world.calls.plan = [];
  remember(sim, order, key, undefined);
  const underWay = {
    ...underWayOf(order, course),
    hanging: {
      call,
      async finish(outcome: 'goes on' | 'fails') {
        const undoing = undoingOf(sim, prospect.asks);
        sim.world.calls.plan = [undoing];
        call.letGo(outcome);
        const reply = await answer;
        await settle(sim, order, { key, prospect, reserved, reply, fails: outcome === 'fails', undoing });
      },
    },
  };
  sim.underWay.push(underWay);
}

function underWayOf<Id extends OperationId>({ account, id }: Order<Id>, { key, prospect, reserved }: Course<Id>) {
  const { delivery: what = id, subject } = prospect;
  return { what, key, account, release: reserved.release, ...(subject !== undefined && { subject }) };
}

async function settle<Id extends OperationId>(
  sim: Simulation,
  order: Order<Id>,
  course: Course<Id> & { readonly reply: Reply<Id>; readonly fails: boolean; readonly undoing: Fault },
): Promise<void> {
  const { account, id } = order;
  const { key, prospect, reserved, reply, fails, undoing } = course;
  const isRepeated = prospect.asks === 'a port, until it succeeds' && undoing === 'none';
  const refusal = fails && !isRepeated ? (prospect.portFailure ?? failed) : prospect.portRefusal;
  sim.world.calls.plan = [];
  if (!refusal) {
    expect(reply.status, `${id} of ${account.name}: ${reply.text}`).toBe(200);
    await reserved.confirm(reply);
    sim.say(`${id} of ${account.name} is done`);
    return remember(sim, order, key, reply.text);
  }
  const isStuck = undoing !== 'none' && prospect.asks !== 'a port';
  expectRefused(reply, refusal);
  sim.say(`${id} of ${account.name} ${isStuck ? 'fails, and is settled later' : 'fails, and is undone'}`);
  remember(sim, order, key, undefined);
  if (isStuck) sim.underWay.push({ ...underWayOf(order, course), hanging: undefined });
  else reserved.release();
}

/** Remembers a request with a key, so that it may be repeated. */
function remember<Id extends OperationId>(sim: Simulation, order: Order<Id>, key: string | undefined, answer: string | undefined): void {
  if (key === undefined) return;
  const { account, id, otherForm } = order;
  const earlier = sim.repeatables.findIndex((one) => one.key === key && one.account === account);
  if (earlier >= 0) sim.repeatables.splice(earlier, 1);
  sim.repeatables.push({
    account,
    key,
    at: sim.clock.now(),
    answer,
    isChangeable: otherForm !== undefined,
    resend: (changed) => sim.client.call(account, id, { ...order.sent, ...(changed && otherForm && { form: otherForm }), key }),
    again: () => send(sim, order, key),
  });
}

/** Milliseconds for which a key is kept at least. */
const KEPT = 86_400_000;

/** Sends an earlier request once more, with its key. */
export async function repeat(sim: Simulation): Promise<void> {
  const recent = sim.repeatables.filter(({ at }) => sim.clock.now() - at < KEPT);
  const earlier = sim.dice.pickAny(recent.slice(-12));
  if (!earlier) return sim.say('nothing to repeat');
  const { account, key, answer, isChangeable } = earlier;
  const isUnderWay = sim.underWay.some((one) => one.key === key && one.account === account);
  if (answer === undefined && !isUnderWay) {
    sim.say(`${account.name} sends what had no effect again`);
    return earlier.again();
  }
  const isChanged = isChangeable && sim.dice.chance(0.3);
  const reply = await earlier.resend(isChanged);
  sim.say(`${account.name} repeats ${isUnderWay ? 'the request in progress' : 'what was done'}${isChanged ? ', with another form' : ''}`);
  if (isChanged || isUnderWay) return expectRefused(reply, isChanged ? keyReused : inProgress);
  expect(reply).toMatchObject({ status: 200, text: answer });
}

export function expectRefused(reply: { status: number; errorType: string | null; text: string }, { status, type }: Refused): void {
  expect({ status: reply.status, type: reply.errorType }, `answered: ${reply.text}`).toEqual({ status, type });
}

function newKey(sim: Simulation): string | undefined {
  return sim.dice.chance(0.4) ? `key-${sim.dice.integer(0, 2 ** 40)}` : undefined;
}

function faultsOf(sim: Simulation, asks: Prospect<OperationId>['asks']): { fault: Fault; undoing: Fault } {
  if (asks === 'no port' || sim.dice.chance(0.7)) return { fault: 'none', undoing: 'none' };
  const isFull = sim.underWay.filter(({ hanging }) => hanging).length >= MOST_HANGING;
  const fault = sim.dice.pick<Fault>(
    isFull ? ['fails before', 'fails after'] : ['fails before', 'fails after', 'hangs before', 'hangs after'],
  );
  return { fault, undoing: undoingOf(sim, asks) };
}

function undoingOf(sim: Simulation, asks: Prospect<OperationId>['asks']): Fault {
  return (asks === 'a port, and one to undo it' || asks === 'a port, until it succeeds') && sim.dice.chance(0.15)
    ? sim.dice.pick<Fault>(['fails before', 'fails after'])
    : 'none';
}
