/** PostgreSQL, compared with bare `pg` on the same server. */
import { median } from '../../../.config/bench-row.ts';
import type { Row } from '../../../.config/bench-row.ts';
import { CONNECTIONS, FORM, headersOf, load, PURCHASE, READ, send } from './load.ts';
import type { Plan } from './main.ts';
import { run, startPostgres } from './processes.ts';
import type { Running, ServiceOptions, StartedService } from './processes.ts';

/** As many as an instance of the service has. */
const DATABASE_CONNECTIONS = 20;
/** Bytes of a row of the log. */
const ROW_LENGTH = 1_000;
const ACCOUNTS = 32;
const CONCURRENT_PURCHASES = 2_000;
/** Purchases that compete for addresses. */
const COMPETING_PURCHASES = 200;
const FREE_ADDRESSES = 37;

function start(options: ServiceOptions): Promise<Running<StartedService>> {
  return run('service', options);
}

export async function* postgresRows({ seconds, rounds, progress }: Plan): AsyncGenerator<Row> {
  const server = await startPostgres();
  const row = 'x'.repeat(ROW_LENGTH);
  const bare = await run<string>('bare-postgres', {
    databaseUrl: await server.newDatabase(),
    row,
    connections: DATABASE_CONNECTIONS,
    concurrency: CONNECTIONS,
  });
  const measured: Record<Figure, number[]> = {
    bare: [],
    read: [],
    one: [],
    many: [],
    two: [],
    burst: [],
    burstSeconds: [],
    scarce: [],
    scarceSeconds: [],
  };
  for (let round = 1; round <= rounds; round++) {
    progress(`PostgreSQL, round ${round} of ${rounds}`);
    const databaseUrl = await server.newDatabase();
    const [first, second] = [await start({ accounts: ACCOUNTS, databaseUrl }), await start({ accounts: 0, databaseUrl })];
    const all = first.started;
    const one = { ...all, apiKeys: all.apiKeys.slice(0, 1) };
    const other = { ...all, baseUrl: second.started.baseUrl };
    for (const instance of [all, other]) await load(instance, PURCHASE, 1);
    measured.bare.push(await bare.ask<number>(seconds * 1000));
    measured.read.push((await load(one, READ, seconds)).perSecond);
    const purchases = [
      async () => measured.one.push((await load(one, PURCHASE, seconds)).perSecond),
      async () => measured.many.push((await load(all, PURCHASE, seconds)).perSecond),
      async () => {
        const both = [all, other].map((instance) => load(instance, PURCHASE, seconds, { connections: CONNECTIONS / 2 }));
        measured.two.push((await Promise.all(both)).reduce((sum, { perSecond }) => sum + perSecond, 0));
      },
    ];
    // Later measurements run on larger tables, so the order alternates.
    for (const measure of round % 2 === 0 ? purchases.toReversed() : purchases) await measure();
    const burst = await buyAtOnce([one], CONCURRENT_PURCHASES);
    measured.burst.push(burst.bought);
    measured.burstSeconds.push(burst.seconds);
    const scarce = [all, other].map(({ baseUrl }) => ({ baseUrl, apiKeys: [all.scarceKey] }));
    // 4 of the 61 addresses each, so that 37 are left.
    for (let taken = 0; taken < 61 - FREE_ADDRESSES; taken += 4) await send(scarce[0] ?? one, { ...PURCHASE, body: `${FORM}&ips=4` });
    const competition = await buyAtOnce(scarce, COMPETING_PURCHASES);
    measured.scarce.push(competition.bought);
    measured.scarceSeconds.push(competition.seconds);
    await first.stop();
    await second.stop();
  }
  await bare.stop();
  await server.stop();
  function per(name: keyof typeof measured, other: keyof typeof measured) {
    return measured[name].map((value, index) => value / (measured[other][index] ?? 0));
  }
  function detail(name: keyof typeof measured, other: keyof typeof measured) {
    return `${Math.round(median(measured[name]))} and ${Math.round(median(measured[other]))} per second`;
  }
  function rowOf(name: string, [one, other]: readonly [keyof typeof measured, keyof typeof measured], atLeast: number): Row {
    return {
      name,
      unit: '',
      target: { kind: 'at least', value: atLeast },
      rounds: per(one, other),
      detail: detail(one, other),
    };
  }
  yield rowOf('PostgreSQL: read / bare pg', ['read', 'bare'], 0.5);
  yield rowOf('PostgreSQL: purchase / bare pg', ['one', 'bare'], 0.03);
  yield rowOf('PostgreSQL: purchases of 32 accounts / of 1', ['many', 'one'], 0.9);
  yield rowOf('PostgreSQL: purchases of 2 instances / of 1', ['two', 'many'], 0.9);
  yield {
    name: `PostgreSQL: ${CONCURRENT_PURCHASES} purchases at once from one account, time`,
    unit: 's',
    target: { kind: 'at most', value: 12 },
    rounds: measured.burstSeconds,
    detail: 'until all had their responses',
  };
  yield {
    name: `PostgreSQL: ${CONCURRENT_PURCHASES} purchases at once from one account, bought`,
    unit: 'VMs',
    target: { kind: 'exactly', value: CONCURRENT_PURCHASES },
    rounds: measured.burst,
    detail: 'the others were refused',
  };
  yield {
    name: `PostgreSQL: ${COMPETING_PURCHASES} purchases at 2 instances for ${FREE_ADDRESSES} addresses, bought`,
    unit: 'VMs',
    target: { kind: 'exactly', value: FREE_ADDRESSES },
    rounds: measured.scarce,
    detail: `the others got 409; ${median(measured.scarceSeconds).toFixed(1)} s until all had their responses`,
  };
}

type Figure = 'bare' | 'read' | 'one' | 'many' | 'two' | 'burst' | 'burstSeconds' | 'scarce' | 'scarceSeconds';

/**
 * Sends purchases at once, to instances in turn.
 *
 * @throws Error if one of them got a status besides 200 and 409.
 */
async function buyAtOnce(
  instances: readonly Pick<StartedService, 'baseUrl' | 'apiKeys'>[],
  count: number,
): Promise<{ readonly bought: number; readonly seconds: number }> {
  const begun = performance.now();
  const statuses = await Promise.all(
    Array.from({ length: count }, async (_, number) => {
      const { baseUrl = '', apiKeys: [apiKey = ''] = [] } = instances[number % instances.length] ?? {};
      const response = await fetch(`${baseUrl}/vm/create`, { method: 'PUT', headers: headersOf(apiKey), body: FORM });
      await response.text();
      return response.status;
    }),
  );
  const seconds = (performance.now() - begun) / 1000;
  const failed = statuses.filter((status) => status !== 200 && status !== 409);
  if (failed.length > 0) throw new Error(`${failed.length} of ${count} purchases at once failed, the first with status ${failed[0]}.`);
  return { bought: statuses.filter((status) => status === 200).length, seconds };
}
