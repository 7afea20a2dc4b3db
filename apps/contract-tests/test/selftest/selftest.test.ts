import { randomInt } from 'node:crypto';

import { readOperations } from '@reseller/contract';
import { describe, expect, test } from 'vitest';

import { byDepth } from '../../../../.config/depth.ts';
import { loadDocument } from '../../src/document.ts';
import type { Defect } from './defect.ts';
import { SELFTEST_DEFECTS } from './defects.ts';
import { ALL_CHECKS, controlRun, findDefect, runAgainstFake } from './selftest.ts';

const document = await loadDocument();

test('a service and a client without defects have no findings', async () => {
  expect((await controlRun(document)).map(({ check, message }) => `${check}: ${message}`)).toEqual([]);
});

describe('the selftest', () => {
  test.each(SELFTEST_DEFECTS)('finds with $check: $description', async (defect) => {
    expect(await findDefect(document, defect)).toBeDefined();
  });

  test('has a defect for each check', () => {
    expect([...new Set(SELFTEST_DEFECTS.map(({ check }) => check))].toSorted()).toEqual(ALL_CHECKS.map(({ id }) => id).toSorted());
  });
});

/** Checks that need a second service or a client, and checks whose findings are unverified. */
const APART: ReadonlySet<string> = new Set(['request-described', 'operation-described', 'part-seen']);
const OPERATIONS = readOperations(document);
const seeds = byDepth({ usual: [131, randomInt(8, 2 ** 31)], deep: [1, 2, 3, 4, 5, 6, 7, 131, randomInt(8, 2 ** 31)] });

/** Assigns each operation at most one defect, by the seed. Checks that apply to few operations come first. */
function scattered(seed: number): ReadonlyMap<string, Defect> {
  const order = shuffled(OPERATIONS, seed);
  const free = new Set(order.map(({ id }) => id));
  const defects = new Map<string, Defect>();
  const rarest = shuffled(SELFTEST_DEFECTS, seed + 1)
    .filter(({ check }) => !APART.has(check))
    .map((defect) => {
      const check = ALL_CHECKS.find(({ id }) => id === defect.check);
      return { defect, places: order.filter((operation) => check?.applies(operation, document)) };
    })
    .toSorted((one, other) => one.places.length - other.places.length);
  for (const { defect, places } of rarest) {
    const place = places.find(({ id }) => free.has(id));
    if (place === undefined) continue;
    free.delete(place.id);
    defects.set(place.id, defect);
  }
  return defects;
}

test.each(seeds)('finds all of several defects in one service, chosen by the seed %i, and reports no other violation', async (seed) => {
  const defects = scattered(seed);
  expect(defects.size).toBeGreaterThan(20);
  // Ignores defects that were not injected into any response, such as one on a second page of a short list.
  const times = new Map<string, number>();
  const { findings } = await runAgainstFake(document, (exchange) => {
    const defect = exchange.operation === undefined ? undefined : defects.get(exchange.operation.id);
    const tampered = defect?.tamper(exchange);
    const name = `${defect?.check} ${exchange.operation?.id}`;
    if (tampered !== undefined) times.set(name, (times.get(name) ?? 0) + 1);
    return tampered;
  });
  // One response alone cannot repeat an identifier.
  const shown = new Set([...times].flatMap(([name, count]) => (name.startsWith('request-id-unique') && count < 2 ? [] : [name])));
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
