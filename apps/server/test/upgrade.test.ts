/** An upgrade with a migration while instances of the older version run; OPERATIONS.md, "Upgrade". */
import { once } from 'node:events';

import { expect, test } from 'vitest';

import { freePort } from '../../../.config/free-ports.ts';
import { query } from './database.ts';
import { startLoad } from './faults/load.ts';
import { newPlace } from './faults/place.ts';
import { goToMidMonth, newAccount } from './faults/provider.ts';
import { seed } from './faults/random.ts';
import { fetchOf, vmPurchase } from './faults/request.ts';
import { runCommand, runServer, SOURCE, sourceOf, startServer } from './process.ts';

/** Exit code of an instance that a newer version replaces: a supervisor starts it again. */
const REPLACED = 75;
const NEWER = { NODE_OPTIONS: `--import=${new URL('newer-version.ts', import.meta.url).href}` };
const OLD_STOPS =
  /A newer version of the service has upgraded the database to 9999-newer, and this instance knows \d{4}-[a-z-]+\. It stops soon\. Start the newer version in its place\./;

test(
  `a newer version takes over under load: older instances stop by themselves, and nothing is lost (FAULT_SEED=${seed})`,
  { timeout: 300_000 },
  async () => {
    const place = await newPlace('postgres');
    const environment: Readonly<Record<string, string>> = { ...place.environment(), RESELLER_LEASE_SECONDS: '6' };
    const { DATABASE_URL: url = '' } = environment;
    const [one, two] = [await startServer(environment), await startServer(environment)];
    await goToMidMonth(one);
    const account = await newAccount(one);
    const port = await freePort();
    const load = startLoad({
      instances: [one.baseUrl, two.baseUrl, `http://127.0.0.1:${port}`],
      account,
      seed,
      callers: 6,
      prefix: 'upgrade',
    });
    await load.responsesReceived(50);
    load.slowDown();

    const dryRun = await runCommand('migrate', ['--dry-run'], { DATABASE_URL: url, ...NEWER }, sourceOf('migrate'));
    expect(dryRun).toEqual({ code: 0, stdout: 'Would run 1 migration:\n  9999-newer\n', stderr: '' });
    await load.responsesReceived(20, 'now');

    const ended = Promise.all([one, two].map(async ({ process: child }) => (await once(child, 'exit'))[0]));
    const newer = await startServer({ ...environment, ...NEWER, RESELLER_PORT: String(port) }, SOURCE);
    expect(await ended).toEqual([REPLACED, REPLACED]);
    for (const older of [one, two]) expect(older.logged()).toMatch(OLD_STOPS);
    // Whenever an instance stopped, another one responded, so all callers still get responses.
    await load.responsesReceived(20, 'now');
    expect(load.gaveUp()).toBe(0);
    await load.stop();

    const bought = load.sent.filter(({ buys, responses }) => buys?.kind === 'vm' && responses.some(({ status }) => status === 200));
    const names = (await query(url, `select hostname from vms where account_id = '${account.id}'`)).map(({ hostname }) => String(hostname));
    expect(new Set(names).size).toBe(names.length);
    expect(bought.filter(({ buys }) => !names.includes(buys?.name ?? ''))).toEqual([]);
    expect((await fetchOf(newer.baseUrl, account.apiKey, vmPurchase('after-upgrade'))).status).toBe(200);
    const migrations = await query(url, 'select name from kysely_migration order by name');
    expect([migrations[0], migrations.at(-1)]).toEqual([{ name: '0001-first-schema' }, { name: '9999-newer' }]);

    // An older version refuses to join.
    expect(await runServer(environment)).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /^A newer version of the service wrote the store: it has the migration 9999-newer\. Start that version; this one knows \d{4}-[a-z-]+\.\n$/,
      ),
    });
  },
);
