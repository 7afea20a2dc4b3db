/** An upgrade with a migration while instances of the older version run; OPERATIONS.md, "Upgrade". */
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';

import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';

import { byDepth } from '../../../.config/depth.ts';
import { freePort } from '../../../.config/free-ports.ts';
import { query } from './database.ts';
import { tell } from './faults/figures.ts';
import { startLoad } from './faults/load.ts';
import { newPlace } from './faults/place.ts';
import { goToMidMonth, newAccount, OPERATOR_TOKEN } from './faults/provider.ts';
import type { Account } from './faults/provider.ts';
import { seed } from './faults/random.ts';
import { fetchOf, vmPurchase } from './faults/request.ts';
import { runCommand, runServer, SOURCE, sourceOf, startCommand, startServer } from './process.ts';

/** Exit code of an instance that a newer version replaces: a supervisor starts it again. */
const REPLACED = 75;
const NEWER = { NODE_OPTIONS: `--import=${new URL('newer-version.ts', import.meta.url).href}` };
const OLD_STOPS =
  /An instance of a newer version serves requests: it knows (?:9998-columns|9999-newer), and this instance knows \d{4}-[a-z-]+\. This instance stops soon\./;

interface Provider {
  readonly responses: readonly Response[];
  stop(): Promise<void>;
}

/** The work of a provider while an upgrade is in progress: credit notes, keys and exports lock other tables than purchases. */
async function startProvider(operators: readonly string[], baseUrl: string, account: Account): Promise<Provider> {
  const { body } = await fetchOf(baseUrl, account.apiKey, { method: 'GET', path: '/accounting/invoices' });
  const [invoice] = Object.keys(body.data);
  const responses: Response[] = [];
  const state = { isStopping: false };
  let note = 0;
  /** Sends a request to the first instance that responds with its outcome. */
  async function send(method: string, path: string, content?: object): Promise<void> {
    for (let attempt = 0; !state.isStopping; attempt++) {
      const response = await fetch(`${operators[attempt % operators.length]}${path}`, {
        method,
        headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, 'content-type': 'application/json' },
        body: content === undefined ? null : JSON.stringify(content),
      }).catch(() => undefined);
      // An instance that stops cuts a body off.
      const received = await response?.text().catch(() => undefined);
      if (response === undefined || received === undefined) continue;
      responses.push(response);
      if (response.status !== 503) return;
    }
  }
  async function work(): Promise<void> {
    while (!state.isStopping) {
      await send('PUT', `/invoices/${invoice}/credit-notes/note-${++note}`, { amount: '0.01', reason: 'Test' });
      await send('POST', `/accounts/${account.id}/api-keys`, { label: `key ${note}` });
      await send('GET', `/accounts/${account.id}/export`);
    }
  }
  const ended = work();
  return {
    responses,
    async stop() {
      state.isStopping = true;
      await ended;
    },
  };
}

// Deep, because a migration waits a minute for its lock.
test(
  'an older instance goes on while a busy table keeps a newer version from its migrations, and leaves when that serves',
  { tags: 'deep' },
  async () => {
    const place = await newPlace('postgres');
    const environment: Readonly<Record<string, string>> = { ...place.environment(), RESELLER_LEASE_SECONDS: '2' };
    const { DATABASE_URL: url = '' } = environment;
    const older = await startServer(environment);
    const account = await newAccount(older);
    const reader = new Client({ connectionString: url, application_name: 'report' });
    await reader.connect();
    onTestFinished(() => reader.end());
    await reader.query('begin');
    await reader.query('select count(*) from vms');
    // The first migration of the newer version comes in, and the one after it needs the table.
    const blocked = startCommand(SOURCE.main, [], {
      ...environment,
      NODE_OPTIONS: `--import=${new URL('newer-version.ts', import.meta.url).href}`,
      RESELLER_PORT: '0',
      RESELLER_OPERATOR_PORT: '0',
      NEWER_FIRST: 'added',
    });
    const [stderr, [code]] = await Promise.all([text(blocked.stderr), once(blocked, 'exit')]);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(
        /9998-columns failed \(.*lock timeout.*\)\. It changed nothing; 1 of the 2 migrations that were missing are in the store and stay there, .* These sessions hold locks: .*\d+ \(report, idle in transaction, for \d+ s, on (?:.*, )?vms\)/,
      ),
    });
    expect((await fetchOf(older.baseUrl, account.apiKey, vmPurchase('on-newer-tables'))).status).toBe(200);
    await reader.query('rollback');
    const newer = await startServer({ ...environment, ...NEWER, NEWER_FIRST: 'added' }, SOURCE);
    const [ended] = await once(older.process, 'exit');
    expect(ended).toBe(REPLACED);
    expect(older.logged()).toMatch(OLD_STOPS);
    expect((await fetchOf(newer.baseUrl, account.apiKey, vmPurchase('after-upgrade'))).status).toBe(200);
  },
);

test.each([
  { lease: 2, migration: 6 },
  { lease: 8, migration: 20 },
  { lease: 15, migration: 35 },
])(
  'some instance responds at each moment of an upgrade whose migrations take $migration s, with a lease of $lease s',
  { tags: 'deep' },
  async ({ lease, migration }) => {
    const place = await newPlace('postgres');
    const environment = { ...place.environment(), RESELLER_LEASE_SECONDS: String(lease) };
    const older = await startServer(environment);
    const account = await newAccount(older);
    const port = await freePort();
    const instances = [older.baseUrl, `http://127.0.0.1:${port}`];
    const responds = async (baseUrl: string): Promise<boolean> =>
      fetch(`${baseUrl}/vm/list/hosts`, { headers: { 'x-service-apikey': account.apiKey } }).then(
        ({ ok }) => ok,
        () => false,
      );
    const state = { isOver: false };
    const polling = (async () => {
      let [samples, longestMs, answeredAt] = [0, 0, performance.now()];
      while (!state.isOver) {
        const responding = await Promise.all(instances.map(responds));
        samples++;
        if (responding.includes(true)) answeredAt = performance.now();
        else longestMs = Math.max(longestMs, performance.now() - answeredAt);
        await pause(20);
      }
      return { samples, longestMs };
    })();
    const begun = performance.now();
    const ended = once(older.process, 'exit').then(([code]) => ({ code, seconds: (performance.now() - begun) / 1_000 }));
    await startServer({ ...environment, ...NEWER, RESELLER_PORT: String(port), NEWER_SECONDS: String(migration) }, SOURCE);
    const ready = (performance.now() - begun) / 1_000;
    const { code, seconds } = await ended;
    state.isOver = true;
    const { samples, longestMs } = await polling;
    tell(
      `upgrade, lease of ${lease} s: newer instance ready after ${ready.toFixed(1)} s, older one gone after ${seconds.toFixed(1)} s, ${samples} samples, ${longestMs.toFixed(0)} ms without an instance`,
    );
    expect(code).toBe(REPLACED);
    expect(ready).toBeGreaterThan(migration);
    expect(samples).toBeGreaterThan(migration);
    expect(longestMs).toBe(0);
  },
);

test(
  `a newer version takes over under load: older instances stop by themselves, and nothing is lost (FAULT_SEED=${seed})`,
  { tags: 'deep' },
  async () => {
    const place = await newPlace('postgres');
    const environment: Readonly<Record<string, string>> = { ...place.environment(), RESELLER_LEASE_SECONDS: '6' };
    const { DATABASE_URL: url = '' } = environment;
    const [one, two] = [await startServer(environment), await startServer(environment)];
    const account = await newAccount(one);
    expect((await fetchOf(one.baseUrl, account.apiKey, vmPurchase('before-upgrade'))).status).toBe(200);
    await goToMidMonth(one);
    const port = await freePort();
    const load = startLoad({
      instances: [one.baseUrl, two.baseUrl, `http://127.0.0.1:${port}`],
      account,
      seed,
      callers: 6,
      prefix: 'upgrade',
    });
    const operatorPort = await freePort();
    const provider = await startProvider([one.operatorUrl, two.operatorUrl, `http://127.0.0.1:${operatorPort}`], one.baseUrl, account);
    await load.responsesReceived(50);
    // The work of the provider goes on at full speed.
    if (byDepth({ usual: true, deep: false })) load.slowDown();

    const dryRun = await runCommand('migrate', ['--dry-run'], { DATABASE_URL: url, ...NEWER }, sourceOf('migrate'));
    expect(dryRun).toEqual({ code: 0, stdout: 'Would run 2 migrations:\n  9998-columns\n  9999-newer\n', stderr: '' });
    await load.responsesReceived(20, 'now');

    const ended = Promise.all([one, two].map(async ({ process: child }) => (await once(child, 'exit'))[0]));
    const newer = await startServer(
      { ...environment, ...NEWER, RESELLER_PORT: String(port), RESELLER_OPERATOR_PORT: String(operatorPort) },
      SOURCE,
    );
    expect(await ended).toEqual([REPLACED, REPLACED]);
    for (const older of [one, two]) expect(older.logged()).toMatch(OLD_STOPS);
    // An older version that is started again refuses to join, and disturbs nothing.
    expect(await runServer(environment)).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /^A newer version of the service wrote the store: it has the migration 9999-newer\. Start that version; this one knows \d{4}-[a-z-]+\.\n$/,
      ),
    });
    // Whenever an instance stopped, another one responded, so all callers still get responses.
    await load.responsesReceived(20, 'now');
    expect(load.gaveUp()).toBe(0);
    await load.stop();
    await provider.stop();
    const all = [...load.sent.flatMap(({ responses }) => responses), ...provider.responses];
    expect(all.filter(({ status, headers }) => status >= 500 && !(status === 503 && headers.has('retry-after')))).toEqual([]);
    expect(provider.responses.filter(({ ok }) => ok).length).toBeGreaterThan(10);

    const bought = load.sent.filter(({ buys, responses }) => buys?.kind === 'vm' && responses.some(({ status }) => status === 200));
    const names = (await query(url, `select hostname from vms where account_id = '${account.id}'`)).map(({ hostname }) => String(hostname));
    expect(new Set(names).size).toBe(names.length);
    expect(bought.filter(({ buys }) => !names.includes(buys?.name ?? ''))).toEqual([]);
    expect((await fetchOf(newer.baseUrl, account.apiKey, vmPurchase('after-upgrade'))).status).toBe(200);
    const migrations = await query(url, 'select name from kysely_migration order by name');
    expect([migrations[0], migrations.at(-1)]).toEqual([{ name: '0001-tables' }, { name: '9999-newer' }]);
  },
);
