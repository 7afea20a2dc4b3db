/** The sum of the purchases at one service. It is on the disk, so that a restarted server does not have its budget again. */
import { createHash } from 'node:crypto';
import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { hasErrorCode } from '@reseller/contract';
import { moneyOf, showMoney } from '@reseller/contract/engine';

import { EXIT, Failure } from '../failure.ts';
import { stateFolder } from '../folders.ts';
import { createPrivate, readIfPresent, writePrivate } from '../private-file.ts';

/** A budget that several processes may share. */
export interface Budget {
  readonly amount: bigint;
  /** Takes an amount. @throws Failure if less is left */
  take(worth: bigint, what: string): void;
  /** Gives an amount back that was not spent. */
  giveBack(worth: bigint): void;
  spent(): bigint;
}

/** The budget of the purchases at one service. */
export function openBudget(env: NodeJS.ProcessEnv, amount: bigint, url: string): Budget {
  const file = fileOf(env, url);
  function spent(): bigint {
    const text = readIfPresent(file);
    const known = text === undefined ? 0n : moneyOf(text.trim());
    if (known === undefined) throw new Failure(`${file} is not an amount in EUR. 'reseller budget reset' replaces it.`, EXIT.failed);
    return known;
  }
  return {
    amount,
    spent,
    take: (worth, what) =>
      locked(file, () => {
        const before = spent();
        if (before + worth > amount) {
          throw new Failure(
            `Nothing was sent: ${what}. The budget is ${showMoney(amount)} EUR, of which ${showMoney(before)} EUR are spent.`,
            EXIT.tooExpensive,
          );
        }
        writePrivate(file, `${showMoney(before + worth)}\n`);
      }),
    giveBack: (worth) => locked(file, () => writePrivate(file, `${showMoney(worth > spent() ? 0n : spent() - worth)}\n`)),
  };
}

/** Forgets what was spent at a service. */
export function resetBudget(env: NodeJS.ProcessEnv, url: string): void {
  const file = fileOf(env, url);
  locked(file, () => rmSync(file, { force: true }));
}

function fileOf(env: NodeJS.ProcessEnv, url: string): string {
  return join(stateFolder(env), 'budgets', createHash('sha256').update(url).digest('hex').slice(0, 16));
}

const LOCK_WAIT_MS = 10_000;
const LOCK_RETRY_MS = 10;

/** Runs a function while no other process holds the lock of the file. A lock of a process that was killed is removed after a while. */
function locked<Result>(file: string, run: () => Result): Result {
  const lock = `${file}.lock`;
  const end = Date.now() + LOCK_WAIT_MS;
  while (!createPrivate(lock, String(process.pid))) {
    if (isAbandoned(lock)) rmSync(lock, { force: true });
    if (Date.now() > end)
      throw new Failure(`Nothing was sent: the file ${lock} shows that another process changes the budget.`, EXIT.conflict);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOCK_RETRY_MS);
  }
  try {
    return run();
  } finally {
    rmSync(lock, { force: true });
  }
}

/** A lock is held for one write. */
const ABANDONED_MS = 5_000;

function isAbandoned(lock: string): boolean {
  try {
    return Date.now() - statSync(lock).mtimeMs > ABANDONED_MS;
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return false;
    throw error;
  }
}
