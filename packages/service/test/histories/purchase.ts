/** A purchase of a reseller: its quote, its price guard and its credit. */
import type { OperationId } from '../../src/reseller/operation.ts';
import type { Received, Sent } from '../http-client.ts';
import { ZERO, cents, minus, numberOfCents } from '../simulator/fraction.ts';
import type { Fraction } from '../simulator/fraction.ts';
import type { Dice } from '../simulator/seeded-random.ts';
import { WrongFact } from './check.ts';
import type { Facts } from './check.ts';
import type { Door } from './door.ts';
import { creditOf, neededFor, shown } from './ledger.ts';
import type { Account, Ledger } from './ledger.ts';
import { done } from './world.ts';

export interface Turn {
  readonly door: Door;
  readonly ledger: Ledger;
  readonly facts: Facts;
  readonly dice: Dice;
  readonly step: number;
  /** Tells the step, for the message of a failure. */
  describe(text: string): void;
}

export interface Action {
  readonly weight: number;
  run(turn: Turn): Promise<void>;
}

export const decimalOf = (count: bigint): string => {
  const text = String(count).padStart(3, '0');
  return `${text.slice(0, -2)}.${text.slice(-2)}`;
};

export const text = (price: Fraction): string => {
  const units = String((price.n * 100_000_000n) / price.d).padStart(9, '0');
  return `${units.slice(0, -8)}.${units.slice(-8)}`;
};

/** The price guard that a purchase sends: none, its price, or a unit less. */
function guard(dice: Dice, price: Fraction): { form: { max_price?: string }; isTooLow: boolean } {
  const kind = dice.weighted([
    { weight: 6, value: 'none' },
    { weight: 2, value: 'exact' },
    { weight: 1, value: 'low' },
  ]).value;
  if (kind === 'none' || price.n === 0n) return { form: {}, isTooLow: false };
  const least = minus(price, { n: 1n, d: 100_000_000n });
  return { form: { max_price: text(kind === 'exact' ? price : least) }, isTooLow: kind === 'low' };
}

interface Purchase {
  readonly id: OperationId;
  readonly quote: OperationId | undefined;
  readonly sent: Sent;
  readonly price: Fraction;
  /** Whether its form has a price guard. Default: true. */
  readonly isGuarded?: boolean;
  /** Its part of the cost of the period. */
  readonly added: Fraction;
  /** Enters the purchase into the ledger. */
  enter(body: Received['body']): void | Promise<void>;
}

const DELIVERED_LATER: ReadonlySet<OperationId> = new Set(['purchaseDedicatedServer', 'renewDomain']);

/** Asks for the quote, and buys: 412 exactly if the guard is too low, 402 exactly if the credit does not suffice. Sometimes the service is killed meanwhile. */
export async function buy(turn: Turn, account: Account, purchase: Purchase): Promise<void> {
  const { door, ledger, facts, dice, step, describe } = turn;
  const { id, quote, sent, price, isGuarded = true, added, enter } = purchase;
  const guarded = guard(dice, isGuarded ? price : ZERO);
  const request: Sent = { ...sent, ...(isGuarded && { form: { ...sent.form, ...guarded.form } }), idempotencyKey: `history-${step}` };
  const needed = neededFor(ledger, account, added);
  const before = account.limit;
  describe(`${account.name} ${id} ${JSON.stringify({ ...sent.path, ...request.form })}`);
  if (account.isSuspended) {
    facts.same(`${id} of a suspended account`, (await door.call(account.apiKey, id, request)).status, 403);
    return;
  }
  if (quote !== undefined) {
    const { status, body, text: answer } = await door.call(account.apiKey, quote, sent);
    if (status !== 200) throw new WrongFact(`${quote} is ${status}: ${answer}`);
    facts.same(`price of ${quote}`, body.data.price.net, shown(price));
    facts.same(`neededCredit of ${quote}`, body.data.neededCredit, numberOfCents(needed));
  }
  const isTight = needed > 0n && dice.chance(0.3);
  if (isTight) {
    // The credit suffices exactly, or a cent is missing.
    const limit = cents(account.limit) - creditOf(ledger, account).remaining + needed - BigInt(dice.integer(0, 1));
    if (limit >= 0n) await setLimit(turn, account, limit);
  }
  const { remaining } = creditOf(ledger, account);
  const expected = guarded.isTooLow ? 412 : isRefused(needed, added, remaining) ? 402 : 200;
  if (!DELIVERED_LATER.has(id) && dice.chance(0.1)) {
    const failed = await door.fail(() => door.call(account.apiKey, id, { ...request, idempotencyKey: `history-${step}-failed` }));
    describe('  the infrastructure failed before');
    facts.same(`status of ${id} while the infrastructure fails`, failed.status, expected === 200 ? 503 : expected);
  }
  if (dice.chance(0.06)) {
    await door.kill(dice.integer(0, 4), () => door.call(account.apiKey, id, request));
    describe('  the service was killed meanwhile');
  }
  const { status, body, text: answer } = await door.call(account.apiKey, id, request);
  if (status !== expected)
    throw new WrongFact(`${id} is ${status}, and should be ${expected} (needs ${decimalOf(needed)} of ${remaining} cents): ${answer}`);
  facts.count++;
  if (status === 200) await enter(body);
  if (isTight) await setLimit(turn, account, cents(before));
}

/** A purchase is refused if it needs more than what remains. One that costs nothing is never refused. */
export const isRefused = (needed: bigint, added: Fraction, remaining: bigint): boolean => added.n > 0n && needed > remaining;

/** @param limit In cents. */
export async function setLimit({ door, describe }: Pick<Turn, 'door' | 'describe'>, account: Account, limit: bigint): Promise<void> {
  describe(`the credit limit of ${account.name} is ${decimalOf(limit)}`);
  await done(door.operate('PUT', `/accounts/${account.id}/credit-limit`, { credit_limit: decimalOf(limit) }));
  account.limit = { n: limit, d: 100n };
}
