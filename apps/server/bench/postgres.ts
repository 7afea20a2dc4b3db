/** PostgreSQL, compared with bare `pg` on the same server. */
import { CONNECTIONS, FORM, headersOf, load, PURCHASE, READ } from './load.ts';
import type { Plan } from './main.ts';
import { run, startPostgres } from './processes.ts';
import type { Running, ServiceOptions, StartedService } from './processes.ts';
import type { Row } from './report.ts';
import { median } from './report.ts';

/** As many as an instance of the service has. */
const DATABASE_CONNECTIONS = 20;
/** Bytes of a row of the log. */
const ROW_LENGTH = 1_000;
const ACCOUNTS = 32;
const AT_ONCE = 2_000;

function start(options: ServiceOptions): Promise<Running<StartedService>> {
  return run('service.ts', options);
}

export async function* postgresRows({ seconds, rounds, progress }: Plan): AsyncGenerator<Row> {
  const server = await startPostgres();
  const row = 'x'.repeat(ROW_LENGTH);
  const bare = await run<string>('bare-postgres.ts', {
    databaseUrl: await server.newDatabase(),
    row,
    connections: DATABASE_CONNECTIONS,
    concurrency: CONNECTIONS,
  });
  const measured: Record<'bare' | 'read' | 'one' | 'many' | 'two' | 'burst', number[]> = {
    bare: [],
    read: [],
    one: [],
    many: [],
    two: [],
    burst: [],
  };
  for (let round = 1; round <= rounds; round++) {
    progress(`PostgreSQL, round ${round} of ${rounds}`);
    const databaseUrl = await server.newDatabase();
    const [first, second] = [await start({ accounts: ACCOUNTS, databaseUrl }), await start({ accounts: 0, databaseUrl })];
    const all = first.started;
    const one = { ...all, apiKeys: all.apiKeys.slice(0, 1) };
    await load(all, PURCHASE, 1);
    await load({ ...all, baseUrl: second.started.baseUrl }, PURCHASE, 1);
    measured.bare.push(await bare.ask<number>(seconds * 1000));
    measured.read.push((await load(one, READ, seconds)).perSecond);
    measured.one.push((await load(one, PURCHASE, seconds)).perSecond);
    measured.many.push((await load(all, PURCHASE, seconds)).perSecond);
    const both = [all, { ...all, baseUrl: second.started.baseUrl }].map((instance) => load(instance, PURCHASE, seconds, CONNECTIONS / 2));
    measured.two.push((await Promise.all(both)).reduce((sum, { perSecond }) => sum + perSecond, 0));
    measured.burst.push(await buyAtOnce(one));
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
  yield rowOf('PostgreSQL: read / bare pg', ['read', 'bare'], 0.6);
  yield rowOf('PostgreSQL: purchase / bare pg', ['one', 'bare'], 0.25);
  yield rowOf('PostgreSQL: purchases of 32 accounts / of 1', ['many', 'one'], 0.9);
  yield rowOf('PostgreSQL: purchases of 2 instances / of 1', ['two', 'many'], 0.9);
  yield {
    name: `PostgreSQL: ${AT_ONCE} purchases at once, all bought`,
    unit: 's',
    target: { kind: 'at most', value: 5 },
    rounds: measured.burst,
    detail: 'from one account',
  };
}

/** @returns Seconds until all have their VM. */
async function buyAtOnce({ baseUrl, apiKeys: [apiKey = ''] }: StartedService): Promise<number> {
  const begun = performance.now();
  const statuses = await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      const response = await fetch(`${baseUrl}/vm/create`, { method: 'PUT', headers: headersOf(apiKey), body: FORM });
      await response.text();
      return response.status;
    }),
  );
  const refused = statuses.filter((status) => status !== 200);
  if (refused.length > 0) throw new Error(`${refused.length} of ${AT_ONCE} purchases at once were refused, first with ${refused[0]}.`);
  return (performance.now() - begun) / 1000;
}
