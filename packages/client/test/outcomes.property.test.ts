/** Whatever happens to a purchase, the client never says that it was made or not made when the opposite is true. */
import fc from 'fast-check';
import { afterAll, expect, test, vi } from 'vitest';

import { amountOf, isDeep } from '../../../.config/depth.ts';
import { createReseller, OutcomeUnknownError, ResellerError } from '../src/index.ts';
import type { Reseller } from '../src/index.ts';
import { FORM, KEY_LIFETIME_MS, World } from './world.ts';
import type { Fate, WorldOptions } from './world.ts';

const CASES = amountOf('OUTCOME_CASES', { usual: 300, deep: 20_000 });

interface Case extends WorldOptions {
  /** Identical purchases that the client makes one after the other. */
  readonly calls: number;
  /** Later calls of the client before it reconciles. */
  readonly laterCalls: number;
  readonly isFirstCall: boolean;
  /** Whether a signal ends the calls at the first failure of a connection. */
  readonly aborts: boolean;
  /** Milliseconds for which the machine sleeps before the client reconciles. */
  readonly sleepMs: number;
  /** Whether the calls alternate between two clients. */
  readonly twoClients: boolean;
  /** Whether `onEvent` and the logger throw. */
  readonly callbacksThrow: boolean;
}

const milliseconds = fc.constantFrom(0, 10, 900, 14_000, 31_000, 59_000);
const fate: fc.Arbitrary<Fate> = fc.record({
  kind: fc.constantFrom('ok', 'never', 'cut', 'cut'),
  cutMs: fc.constantFrom(1, 500, 10_000, 30_000),
  transitMs: fc.constantFrom(0, 10, 500),
  delayMs: milliseconds,
  reply: fc.constantFrom('result', 'result', '503', 'gateway'),
});

const cases: fc.Arbitrary<Case> = fc.record({
  fates: fc.array(fate, { minLength: 1, maxLength: 3 }),
  honoursKeys: fc.boolean(),
  refuses: fc.constantFrom(false, false, true),
  style: fc.constantFrom(
    'exact',
    'exact',
    'exact',
    'sorted',
    'defaults',
    'nulls',
    'masked',
    'lower-case',
    'full-address',
    'slash',
    'put',
    'no-body',
    'boolean',
  ),
  lagMs: fc.constantFrom(0, 0, 0, 3_000, 40_000, 600_000),
  logsReads: fc.constantFrom(true, true, false),
  noise: fc.tuple(fc.constantFrom(0, 3, 70), fc.constantFrom(0, 3, 60, 130)),
  foreign: fc.array(fc.constantFrom('identical', 'identical-refused', 'other-vm'), { maxLength: 2 }),
  foreignMs: fc.constantFrom(5, 700, 20_000),
  runTime: fc.constantFrom('node', 'node', 'bun', 'deno'),
  clockOffsetMs: fc.constantFrom(0, -3_600_000, 90_000),
  clockStepMs: fc.constantFrom(0, 0, 60_000, -60_000),
  calls: fc.constantFrom(1, 1, 2),
  laterCalls: fc.constantFrom(0, 1, 3),
  namesKeys: fc.boolean(),
  isFirstCall: fc.boolean(),
  aborts: fc.constantFrom(false, false, true),
  sleepMs: fc.constantFrom(0, 0, 0, 3_600_000, 26 * 3_600_000),
  twoClients: fc.boolean(),
  callbacksThrow: fc.boolean(),
});

const told = new Map<string, number>();
const count = (kind: string) => void told.set(kind, (told.get(kind) ?? 0) + 1);

function throwing(): never {
  throw new Error('a mistake of a callback');
}

function clientOf({ callbacksThrow }: Case, { fetch, clock }: World): Reseller {
  const logger = { debug: throwing, info: throwing, warn: throwing, error: throwing };
  const callbacks = callbacksThrow ? { onEvent: throwing, logger, logLevel: 'debug' as const } : {};
  return createReseller({ apiKey: 'key', baseUrl: 'http://reseller.test', fetch, clock, ...callbacks });
}

async function check(drawn: Case): Promise<void> {
  const world = new World(drawn);
  if (drawn.runTime === 'deno') vi.stubGlobal('Deno', { createHttpClient: () => ({}) });
  else vi.unstubAllGlobals();
  const clients = drawn.twoClients ? [clientOf(drawn, world), clientOf(drawn, world)] : [clientOf(drawn, world)];
  if (!drawn.isFirstCall) for (const client of clients) await client.domain.list();
  const kind = `${drawn.honoursKeys ? 'with keys' : 'without keys'}${drawn.namesKeys ? ', named in the log' : ''}`;
  /** The statement of the client about each call: the VM, that there is none, or that it is unknown. */
  const said = new Map<string, number | 'none' | 'unknown'>();
  const open: { readonly owner: string; readonly error: OutcomeUnknownError; readonly client: Reseller }[] = [];
  for (let call = 0; call < drawn.calls; call++) {
    const owner = `call ${call}`;
    const client = clients[call % clients.length] ?? clientOf(drawn, world);
    const controller = new AbortController();
    world.onFailure = () => void (drawn.aborts && controller.abort());
    try {
      said.set(owner, (await client.vm.create(FORM, { headers: { 'x-owner': owner }, signal: controller.signal })).identifier);
    } catch (error) {
      if (error instanceof OutcomeUnknownError) open.push({ owner, error, client });
      else if (error instanceof ResellerError && !error.uncertain) said.set(owner, 'none');
      else throw error;
    }
  }
  for (let call = 0; call < drawn.laterCalls; call++) for (const client of clients) await client.domain.list();
  if (drawn.sleepMs > 0) world.sleepMachine(drawn.sleepMs);
  for (const { owner, error, client } of open) {
    const found = await client.reconcile(error, { headers: { 'x-owner': owner } });
    count(`${kind}: ${found.outcome}`);
    if (found.outcome === 'committed' && found.operation === 'createVm') said.set(owner, found.data.identifier);
    else said.set(owner, found.outcome === 'not-committed' ? 'none' : 'unknown');
    if (drawn.honoursKeys && !drawn.refuses && drawn.sleepMs < KEY_LIFETIME_MS)
      expect(found.outcome, 'with keys, a purchase is always found').toBe('committed');
  }
  world.advance(600_000);
  const owners = [...said.keys()];
  const own = world.vms.filter(({ owner }) => owners.includes(owner));
  const claimed = [...said.values()].filter((value) => typeof value === 'number');
  expect(new Set(claimed).size, 'no VM is reported twice').toBe(claimed.length);
  for (const identifier of claimed) expect(own.map((vm) => vm.identifier)).toContain(identifier);
  // The client makes identical purchases, so any of their VMs may be reported for any of them.
  const unknown = owners.filter((owner) => said.get(owner) === 'unknown').length;
  expect(own.length).toBeGreaterThanOrEqual(claimed.length);
  expect(own.length, 'a VM that was bought is reported, or its outcome is unknown').toBeLessThanOrEqual(claimed.length + unknown);
}

test(`${CASES} purchases over logs, delays, distances, clocks, run times, aborts, sleeps, two clients and callbacks that throw: none is reported wrongly`, async () => {
  await fc.assert(fc.asyncProperty(cases, check), { numRuns: CASES });
});

afterAll(() => {
  vi.unstubAllGlobals();
  if (isDeep) process.stdout.write(`${JSON.stringify(Object.fromEntries([...told].toSorted()), null, 2)}\n`);
});
