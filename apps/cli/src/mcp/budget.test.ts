import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { beforeEach, expect, onTestFinished, test } from 'vitest';

import { EXIT } from '../failure.ts';
import { openBudget, resetBudget } from './budget.ts';

const URL = 'http://127.0.0.1:1';
const CENT = 1_000_000n;

let folder: string;
let env: NodeJS.ProcessEnv;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reseller-budget-'));
  env = { RESELLER_STATE_DIR: folder };
  return () => {
    rmSync(folder, { recursive: true });
  };
});

test('takes up to its last cent, and not a cent more', () => {
  const budget = openBudget(env, 3n * CENT, URL);
  budget.take(2n * CENT, 'a VM');
  expect(() => budget.take(2n * CENT, 'a VM costs it')).toThrow(
    expect.objectContaining({ exitCode: EXIT.tooExpensive, message: expect.stringContaining('a VM costs it') }),
  );
  budget.take(CENT, 'a VM');
  expect(budget.spent()).toBe(3n * CENT);
});

test('is shared by all that open it for a service, and separate for another service', () => {
  openBudget(env, 3n * CENT, URL).take(2n * CENT, 'a VM');
  expect(openBudget(env, 3n * CENT, URL).spent()).toBe(2n * CENT);
  expect(openBudget(env, 3n * CENT, `${URL}/other`).spent()).toBe(0n);
});

test('gets back what was not spent, and never more than was taken', () => {
  const budget = openBudget(env, 3n * CENT, URL);
  budget.take(2n * CENT, 'a VM');
  budget.giveBack(CENT);
  expect(budget.spent()).toBe(CENT);
  budget.giveBack(2n * CENT);
  expect(budget.spent()).toBe(0n);
  budget.take(3n * CENT, 'a VM');
  resetBudget(env, URL);
  expect(budget.spent()).toBe(0n);
});

/** Another process that is about to write holds the lock of every budget, since a number of milliseconds. */
function lockedSince(milliseconds: number): { readonly since: number } {
  const budgets = join(folder, 'budgets');
  mkdirSync(budgets, { recursive: true });
  openBudget(env, CENT, URL).take(0n, 'nothing');
  const [file = ''] = readdirSync(budgets);
  const lock = join(budgets, `${file}.lock`);
  writeFileSync(lock, '1');
  const since = Date.now() - milliseconds;
  utimesSync(lock, since / 1000, since / 1000);
  onTestFinished(() => rmSync(lock, { force: true }));
  return { since: statSync(lock).mtimeMs };
}

test('waits for another process that changes it, and removes the lock of one that was killed', () => {
  const { since } = lockedSince(4_000);
  openBudget(env, CENT, URL).take(CENT, 'a VM');
  expect(Date.now() - since).toBeGreaterThanOrEqual(5_000);
});
