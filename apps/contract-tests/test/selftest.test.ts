import { randomInt } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { readOperations } from '@reseller/contract';
import type { Check } from '@reseller/contract/engine';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { loadDocument } from '../src/document.ts';
import { ALL_CHECKS, runAgainstFake } from '../src/selftest.ts';
import { runWithSecrets, leaksIn, SECRETS, secretsOfExamples } from './leaks.ts';
import type { CommandResult } from './run-command.ts';

const document = await loadDocument();

describe('the selftest', () => {
  const streams: string[] = [];
  let folder: string;
  let result: CommandResult;

  // Once for all checks, because it is about a hundred runs of the contract tests.
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'selftest-'));
    result = await runWithSecrets(['selftest'], folder, streams);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test('finds nothing in a service without defects', () => {
    expect(result.output).toContain('The service without defects has no findings.');
    expect(result.output).toContain(`${ALL_CHECKS.length} of ${ALL_CHECKS.length} defects found, 0 false alarms`);
    expect(result.code).toBe(0);
  });

  test.each(ALL_CHECKS.map(({ id }) => id))('shows that %s finds its own defect', (id) => {
    expect(result.output).toMatch(new RegExp(`^ *found +${id} `, 'm'));
  });

  test('prints no secret', async () => {
    expect(streams.length).toBeGreaterThan(ALL_CHECKS.length);
    expect(await leaksIn(folder, streams, [...SECRETS, ...(await secretsOfExamples())])).toEqual([]);
  });
});

/** Checks that need a second service or a client, and checks whose findings are unverified. */
const APART: ReadonlySet<string> = new Set(['request-described', 'operation-described', 'part-seen', 'header-seen']);
const OPERATIONS = readOperations(document);
const seeds = [1, 2, 3, 4, 5, 6, 7, 131, randomInt(8, 2 ** 31)];

/** Assigns each operation at most one defect, by the seed. Checks that apply to few operations come first. */
function scattered(seed: number): ReadonlyMap<string, Check> {
  const order = shuffled(OPERATIONS, seed);
  const free = new Set(order.map(({ id }) => id));
  const defects = new Map<string, Check>();
  const rarest = shuffled(ALL_CHECKS, seed + 1)
    .filter(({ id }) => !APART.has(id))
    .map((check) => ({ check, places: order.filter((operation) => check.applies(operation, document)) }))
    .toSorted((one, other) => one.places.length - other.places.length);
  for (const { check, places } of rarest) {
    const place = places.find(({ id }) => free.has(id));
    if (place === undefined) continue;
    free.delete(place.id);
    defects.set(place.id, check);
  }
  return defects;
}

test.each(seeds)('finds all of several defects in one service, chosen by the seed %i, and reports no other violation', async (seed) => {
  const defects = scattered(seed);
  expect(defects.size).toBeGreaterThan(20);
  // Ignores defects that were not injected into any response, such as one on a second page of a short list.
  const shown = new Set<string>();
  const { findings } = await runAgainstFake(document, (exchange) => {
    const check = exchange.operation === undefined ? undefined : defects.get(exchange.operation.id);
    const tampered = check?.defect.tamper(exchange);
    if (check !== undefined && tampered !== undefined) shown.add(`${check.id} ${exchange.operation?.id}`);
    return tampered;
  });
  expect(shown.size).toBeGreaterThan(12);
  const found = new Set(findings.flatMap(({ check, touches }) => touches.map(({ operation }) => `${check} ${operation}`)));
  expect([...shown].filter((one) => !found.has(one))).toEqual([]);
  const alarms = findings.flatMap(({ check, verdict, message, touches }) =>
    verdict === 'violation'
      ? touches
          .filter(({ operation }) => !shown.has(`${check} ${operation}`))
          // A service that accepts every identifier also accepts one that breaks its pattern.
          .filter(({ operation }) => !(message.includes('the path parameter') && shown.has(`identifier-unknown ${operation}`)))
          .map(({ operation }) => `${check} ${operation}: ${message}`)
      : [],
  );
  expect(alarms).toEqual([]);
});

function shuffled<Item>(items: readonly Item[], seed: number): readonly Item[] {
  let state = seed;
  const rank = (): number => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0);
  return items
    .map((item) => ({ item, at: rank() }))
    .toSorted((one, other) => one.at - other.at)
    .map(({ item }) => item);
}
