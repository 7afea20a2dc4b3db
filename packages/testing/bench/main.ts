/**
 * Measures the time that the client adds to a call, compared with bare `fetch` to the same server, in alternating reads. Also measures how soon a service is
 * ready in a test.
 *
 *   npx -y pnpm@12 --filter @reseller/testing bench [pairs of calls in a round, default 200]
 */
import { createReseller, OutcomeUnknownError } from '@reseller/client';
import { createTestService } from '@reseller/testing';

import { median, report } from '../../../.config/bench-row.ts';
import { startProxy } from '../test/client/proxy.ts';

const PAIRS = Number(process.argv[2] ?? 200);
const ROUNDS = 21;

/** Milliseconds of one call. */
async function time(call: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await call();
  return performance.now() - began;
}

await using service = await createTestService();
const baseUrl = await service.listen();
const reseller = createReseller({ apiKey: service.apiKey, baseUrl });
const headers = { 'x-service-apikey': service.apiKey, accept: 'application/json' };
const viaClient = () => reseller.vm.hosts();
const viaFetch = () => fetch(`${baseUrl}/vm/list/hosts`, { headers }).then((response) => response.json());

/** The medians of single calls, because a pause of the machine makes a few calls many times as long. */
async function pairs(): Promise<{ readonly client: number; readonly bare: number }> {
  const [client, bare]: [number[], number[]] = [[], []];
  for (let pair = 0; pair < PAIRS; pair++) {
    // The work that a call leaves behind delays the next one, so the order alternates.
    if (pair % 2 === 0) client.push(await time(viaClient));
    bare.push(await time(viaFetch));
    if (pair % 2 === 1) client.push(await time(viaClient));
  }
  return { client: median(client), bare: median(bare) };
}

await pairs();
const rounds: Awaited<ReturnType<typeof pairs>>[] = [];
for (let round = 0; round < ROUNDS; round++) rounds.push(await pairs());
function microseconds(all: readonly number[]): string {
  return `${Math.round(median(all) * 1000)} µs`;
}
report({
  name: 'Client: call / bare fetch',
  unit: '',
  target: { kind: 'at most', value: 1.1 },
  rounds: rounds.map(({ client, bare }) => client / bare),
  detail: `${microseconds(rounds.map(({ client }) => client))} and ${microseconds(rounds.map(({ bare }) => bare))}`,
});

const ready: number[] = [];
for (let round = 0; round < 20; round++) {
  const began = performance.now();
  const another = await createTestService();
  ready.push(performance.now() - began);
  await another.close();
}
report({
  name: 'Testing: a service in a test is ready',
  unit: 'ms',
  target: { kind: 'at most', value: 100 },
  rounds: ready,
  detail: `${ready.length} services in one process`,
});

/** Measures on the real clock how soon the outcomes of purchases are known whose responses were lost at the same moment. */
const LOST = 200;
for (const [server, options] of [
  ['honours keys', {}],
  ['honours no keys', { withoutKeys: true }],
] as const) {
  await using shop = await createTestService();
  const proxy = await startProxy(await shop.listen(), options);
  const { apiKey } = await shop.addAccount('1000000.00');
  const buyer = createReseller({ apiKey, baseUrl: proxy.baseUrl });
  proxy.plan(...Array.from({ length: LOST }, () => ({ kind: 'reset', when: 'after' }) as const));
  const began = performance.now();
  const decide = async () => {
    try {
      await buyer.vm.create({ cores: 1, mem: 1024, disk: 10, os: 'debian_12', hostsystem: 'nl_ryzen' });
      return 'committed';
    } catch (error) {
      if (!(error instanceof OutcomeUnknownError)) throw error;
      return (await buyer.reconcile(error)).outcome;
    }
  };
  const outcomes = await Promise.all(Array.from({ length: LOST }, decide));
  const seconds = (performance.now() - began) / 1000;
  const committed = outcomes.filter((outcome) => outcome === 'committed').length;
  report({
    name: `Client: ${LOST} responses lost at once, all purchases decided, on a server that ${server}`,
    unit: 's',
    target: { kind: 'at most', value: 10 },
    rounds: [seconds],
    detail: `${committed} found, ${LOST - committed} undecided, ${proxy.count('/account/requests')} readings of the log`,
  });
  proxy.close();
}
