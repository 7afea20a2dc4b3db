/** Draws a history, plays it through the public doors, and compares the service with the ledger after each step. */
import type { Engine } from '../engines.ts';
import { diceOf, seededRandom } from '../simulator/seeded-random.ts';
import { DAY, dayIn, iso, midnight, monthAfter, plusDays } from './calendar.ts';
import { WrongFact, checkAccount, newFacts } from './check.ts';
import { openDoor } from './door.ts';
import type { Action, Turn } from './purchase.ts';
import { cancelDomain, keepDomain, moveDomain, registerDomain, renewDomain } from './steps-domain.ts';
import { changeLimit, correct, pay, refund, reversePayment, suspend } from './steps-payment.ts';
import { changePrices, changeTaxStatus, changeTldPrices, changeVat, createSale } from './steps-prices.ts';
import { changeServer, orderServer } from './steps-server.ts';
import { blockVm, buyAddress, changeVm, createVm, moveAddress, powerVm, removeVm, resizeByOperator, restartBilling } from './steps-vm.ts';
import { STARTS, advanceTo, openLedger } from './world.ts';

export interface History {
  readonly seed: number;
  readonly engine: Engine;
  /** The numbers of the steps that are played. Each draws from its own numbers, so that a history without a step is a history. */
  readonly steps: readonly number[];
}

/** Plays a history. @returns The number of facts. @throws WrongFact at the first fact that differs, with the steps before it. */
export async function play({ seed, engine, steps }: History): Promise<number> {
  const dice = diceOf(seededRandom(seed, 'world'));
  const start = Date.parse(dice.pick(STARTS)) / 1000;
  const door = await openDoor(engine, start);
  const facts = newFacts();
  const told: string[] = [];
  try {
    const ledger = await openLedger(door, dice, start);
    for (const step of steps) {
      const own = diceOf(seededRandom(seed, `step ${step}`));
      const at = iso(ledger.now);
      const describe = (text: string) => told.push(`${step}. ${at} ${text}`);
      await own.weighted(ACTIONS).run({ door, ledger, facts, dice: own, step, describe });
      for (const account of ledger.accounts) await checkAccount(door, ledger, account, facts);
    }
    return facts.count;
  } catch (error) {
    if (!(error instanceof WrongFact)) throw new Error(`${told.slice(-3).join('\n')}\n${String(error)}`, { cause: error });
    throw new WrongFact([`Seed ${seed} on ${engine}: ${error.message}`, ...told.slice(-12)].join('\n'), { cause: error });
  } finally {
    await door.end();
  }
}

/** The shortest history that was found to fail like this one: without the steps that the failure does not need. */
export async function shortest(history: History, tries = 40): Promise<WrongFact | undefined> {
  let found: WrongFact | undefined;
  let { steps } = history;
  const fails = async (kept: readonly number[]) => {
    try {
      await play({ ...history, steps: kept });
      return false;
    } catch (error) {
      if (!(error instanceof WrongFact)) return false;
      found = error;
      return true;
    }
  };
  if (!(await fails(steps))) return undefined;
  for (let size = Math.ceil(steps.length / 2); size >= 1 && tries > 0; size = size === 1 ? 0 : Math.ceil(size / 2))
    for (let from = Math.max(0, steps.length - size); from >= 0 && tries > 0; from -= size, tries--) {
      const kept = [...steps.slice(0, from), ...steps.slice(from + size)];
      if (await fails(kept)) steps = kept;
    }
  return found;
}

async function restart({ door, describe }: Turn): Promise<void> {
  describe('the service restarts');
  await door.kill(0, () => Promise.resolve());
}

async function advance({ door, ledger, dice, describe }: Turn): Promise<void> {
  const { now } = ledger;
  const nextDay = midnight(ledger.zone, plusDays(dayIn(ledger.zone, now), 1));
  const to = dice.weighted([
    { weight: 3, value: now + dice.integer(1, 4000) },
    { weight: 4, value: now + dice.integer(1, 12 * DAY) },
    { weight: 4, value: monthAfter(now) + dice.pick([-1, 0, 1]) },
    { weight: 2, value: nextDay + dice.pick([-1, 0, 1]) },
    { weight: 2, value: now + dice.integer(20, 70) * DAY },
    { weight: 1, value: now + dice.integer(200, 400) * DAY },
    // Into the month of a renewal, where it is part of the estimate.
    {
      weight: 3,
      value: dice.pick([
        ...ledger.accounts.flatMap(({ domains }) => domains.map(({ expires }) => expires - dice.integer(1, 5 * DAY))),
        now + DAY,
      ]),
    },
  ]).value;
  if (to <= now) return;
  describe(`the clock is advanced to ${iso(to)}`);
  await advanceTo(door, ledger, to);
}

const ACTIONS: readonly Action[] = [
  { weight: 30, run: advance },
  { weight: 24, run: createVm },
  { weight: 9, run: changeVm },
  { weight: 3, run: resizeByOperator },
  { weight: 9, run: powerVm },
  { weight: 2, run: restartBilling },
  { weight: 3, run: blockVm },
  { weight: 3, run: removeVm },
  { weight: 10, run: moveAddress },
  { weight: 4, run: buyAddress },
  { weight: 7, run: registerDomain },
  { weight: 5, run: renewDomain },
  { weight: 2, run: cancelDomain },
  { weight: 2, run: keepDomain },
  { weight: 5, run: moveDomain },
  { weight: 5, run: orderServer },
  { weight: 4, run: changeServer },
  { weight: 8, run: changePrices },
  { weight: 3, run: changeTldPrices },
  { weight: 8, run: createSale },
  { weight: 6, run: changeVat },
  { weight: 3, run: changeTaxStatus },
  { weight: 6, run: pay },
  { weight: 2, run: reversePayment },
  { weight: 2, run: refund },
  { weight: 5, run: correct },
  { weight: 3, run: changeLimit },
  { weight: 2, run: suspend },
  { weight: 2, run: restart },
];
