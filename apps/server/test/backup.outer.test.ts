/** The commands `backup`, `restore` and `migrate`, and the drill of OPERATIONS.md: back up under load, restore elsewhere, sell. */
import { existsSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { expect, test } from 'vitest';

import { newDatabase, query } from './database.ts';
import { startLoad } from './faults/load.ts';
import { sqlitePlace } from './faults/place.ts';
import { goToMidMonth, newAccount } from './faults/provider.ts';
import { seed } from './faults/random.ts';
import { fetchOf, vmPurchase } from './faults/request.ts';
import { runCommand, startServer, temporaryDirectory } from './process.ts';

const namesIn = (file: string): Set<string> => {
  const connection = new DatabaseSync(file, { readOnly: true });
  try {
    const rows = connection.prepare('select hostname as name from vms union all select name from domains').all();
    return new Set(rows.map(({ name }) => String(name)));
  } finally {
    connection.close();
  }
};

test(`a backup under load has the effect of every response before it began, and the restored service sells (FAULT_SEED=${seed})`, async () => {
  const place = sqlitePlace(temporaryDirectory());
  const server = await startServer(place.environment());
  await goToMidMonth(server);
  const account = await newAccount(server);
  const load = startLoad({ instances: [server.baseUrl], account, seed, callers: 8, prefix: 'drill' });
  await load.responsesReceived(150);
  const bought = load.sent.flatMap(({ buys, responses }) => (buys && responses.some(({ status }) => status === 200) ? [buys.name] : []));
  const file = join(temporaryDirectory(), 'backups/today.sqlite');
  const { RESELLER_DATA_DIR: from = '' } = place.environment();
  expect(await runCommand('backup', ['--from', from, '--to', file])).toEqual({
    code: 0,
    stdout: expect.stringMatching(
      /^Backed up \d+ accounts \(.*, and verified the copy\. Keep the file today\.sqlite\.sha256 with it\.\nThe secret is not in it\./,
    ),
    stderr: '',
  });
  const meanwhile = load.sent.length;
  await load.responsesReceived(20, 'now');
  await load.stop();
  await server.end('SIGKILL');
  expect(bought.length).toBeGreaterThan(20);
  expect(load.sent.length).toBeGreaterThan(meanwhile);
  expect(statSync(file).mode & 0o777).toBe(0o600);

  const restored = sqlitePlace(join(temporaryDirectory(), 'data'));
  const { RESELLER_DATA_DIR: to = '' } = restored.environment();
  expect(await runCommand('restore', ['--from', file, '--to', to])).toMatchObject({ code: 0, stderr: '' });
  const kept = namesIn(join(to, 'store.sqlite'));
  expect(bought.filter((name) => !kept.has(name))).toEqual([]);
  await restored.expectIntegrity();

  const second = await startServer(restored.environment());
  const { status, body } = await fetchOf(second.baseUrl, account.apiKey, vmPurchase('after-restore'));
  expect([status, body.data.config.hostname]).toEqual([200, 'after-restore']);
  await second.end('SIGTERM');
  expect(namesIn(join(to, 'store.sqlite')).has('after-restore')).toBe(true);
});

/** A store whose service has stopped. */
async function stoppedStore(): Promise<string> {
  const directory = temporaryDirectory();
  const server = await startServer({ RESELLER_DATA_DIR: directory });
  await server.end('SIGTERM');
  return directory;
}

test('backup and restore overwrite nothing, refuse what is damaged, and leave nothing half written', async () => {
  const data = await stoppedStore();
  const place = temporaryDirectory();
  const file = join(place, 'backup.sqlite');
  expect(await runCommand('backup', ['--from', data, '--to', file])).toMatchObject({ code: 0 });
  const line = (pattern: RegExp) => ({ code: 1, stdout: '', stderr: expect.stringMatching(pattern) });

  const before = readFileSync(file);
  expect(await runCommand('backup', ['--from', data, '--to', file])).toEqual(line(/^The file .* exists already\. Name a new file.*\n$/));
  expect(readFileSync(file).equals(before)).toBe(true);
  expect(await runCommand('backup', ['--from', place, '--to', join(place, 'x')])).toEqual(line(/^There is no embedded store in .*\n$/));
  expect(await runCommand('backup', [])).toEqual(line(/^The target is missing\. Give --to or --in\./));

  expect(await runCommand('restore', ['--from', file, '--to', data])).toEqual(line(/^The directory .* already has a store .*\n$/));
  const running = await startServer({ RESELLER_DATA_DIR: data });
  expect(await runCommand('restore', ['--from', file, '--to', data])).toEqual(
    line(/^The data directory .* is in use by another process\..*\n$/),
  );
  await running.end('SIGTERM');
  expect(await runCommand('restore', ['--from', join(place, 'none'), '--to', join(place, 'new')])).toEqual(line(/^There is no file .*\n$/));

  // A log that was left behind would be applied to the restored store.
  for (const suffix of ['-wal', '-journal']) {
    const withLog = temporaryDirectory();
    writeFileSync(join(withLog, `store.sqlite${suffix}`), 'x');
    const refused = await runCommand('restore', ['--from', file, '--to', withLog]);
    expect(refused).toEqual(line(new RegExp(`already has a store \\(.*${suffix}\\)`)));
  }

  truncateSync(file, before.length - 8_192);
  const target = join(place, 'new');
  expect(await runCommand('restore', ['--from', file, '--to', target])).toEqual(
    line(
      /^The file .* differs from its checksum in .*backup\.sqlite\.sha256, so it is not the backup that was written\. Use another backup\.\n$/,
    ),
  );
  rmSync(`${file}.sha256`);
  expect(await runCommand('restore', ['--from', file, '--to', target])).toEqual(
    line(/^The file .* is not a sound store of a service .*\n$/),
  );
  writeFileSync(file, 'not a database');
  expect(await runCommand('restore', ['--from', file, '--to', target])).toEqual(
    line(/^The file .* is not a sound store of a service .*\n$/),
  );
  expect([existsSync(join(target, 'store.sqlite')), readdirSync(place)]).toEqual([false, ['backup.sqlite']]);
});

test('a backup and a restored store are on the disk before they have their names', async () => {
  const [data, place] = [await stoppedStore(), temporaryDirectory()];
  const recorded = join(place, 'syncs');
  const environment = {
    NODE_OPTIONS: `--import=${new URL('../../../.config/recorded-syncs.ts', import.meta.url).href}`,
    RECORDED_SYNCS: recorded,
  };
  const [file, restored] = [join(place, 'backup.sqlite'), join(place, 'restored')];
  expect(await runCommand('backup', ['--from', data, '--to', file], environment)).toMatchObject({ code: 0 });
  expect(await runCommand('restore', ['--from', file, '--to', restored], environment)).toMatchObject({ code: 0 });
  const store = join(restored, 'store.sqlite');
  const durable = (target: string, folder: string) => [`sync ${target}.unfinished`, `name ${target}`, `sync ${folder}`];
  const lines = readFileSync(recorded, 'utf8').split('\n');
  for (const target of [file, store])
    expect(lines.slice(lines.indexOf(`name ${target}`) - 1).slice(0, 3)).toEqual(durable(target, target === file ? place : restored));
});

test('restore refuses a backup in which a value was altered, and one without its checksum unless a flag allows it', async () => {
  const place = temporaryDirectory();
  const [data, file] = [join(place, 'data'), join(place, 'backup.sqlite')];
  const server = await startServer({ RESELLER_DATA_DIR: data });
  await server.end('SIGTERM');
  expect((await runCommand('backup', ['--from', data, '--to', file])).code).toBe(0);
  const database = new DatabaseSync(file);
  database.exec("update vms set hostname = 'altered'");
  database.close();
  const restore = (to: string, ...given: string[]) => runCommand('restore', ['--from', file, '--to', join(place, to), ...given]);
  expect(await restore('one')).toMatchObject({ code: 1, stderr: expect.stringContaining('differs from its checksum') });
  rmSync(`${file}.sha256`);
  expect(await restore('two')).toEqual({
    code: 1,
    stdout: '',
    stderr: `The checksum ${file}.sha256 is missing, so an altered value in ${file} would not be noticed. Put the file there, or restore with --without-checksum.\n`,
  });
  expect(existsSync(join(place, 'two'))).toBe(false);
  expect(await restore('two', '--without-checksum')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('No file with its checksum was next to it'),
  });
});

test('a backup below a directory in which nothing can be created ends with one line', async () => {
  const data = temporaryDirectory();
  await (await startServer({ RESELLER_DATA_DIR: data })).end('SIGTERM');
  expect(await runCommand('backup', ['--from', data, '--to', '/proc/none/backup.sqlite'])).toEqual({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(
      /^.* could not be copied to \/proc\/none\/backup\.sqlite \(.*\)\. Check both places and the free space\.\n$/,
    ),
  });
});

const MIGRATIONS = /^(?:Would run|Ran) \d+ migrations?:\n {2}0001-tables\n(?: {2}\d{4}-[\w-]+\n)*$/;

test('migrate shows the pending migrations without running them, and then runs them', async () => {
  const url = await newDatabase();
  const tables = () => query(url, "select count(*)::int as n from information_schema.tables where table_schema = 'public'");
  const run = (...given: string[]) => runCommand('migrate', given, { DATABASE_URL: url });
  expect(await run('--dry-run')).toEqual({ code: 0, stdout: expect.stringMatching(MIGRATIONS), stderr: '' });
  expect(await tables()).toEqual([{ n: 0 }]);
  expect(await run()).toEqual({ code: 0, stdout: expect.stringMatching(MIGRATIONS), stderr: '' });
  expect((await tables())[0]?.['n']).toBeGreaterThan(20);
  expect(await run('--dry-run')).toEqual({ code: 0, stdout: 'The store is up to date.\n', stderr: '' });
  expect(await run('--now')).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('Usage: ') });
});

test('migrate works on an embedded store, and shows its state while a service uses it', async () => {
  const directory = temporaryDirectory();
  const run = (...given: string[]) => runCommand('migrate', given, { RESELLER_DATA_DIR: directory });
  expect((await run('--dry-run')).stdout).toMatch(MIGRATIONS);
  expect(readdirSync(directory)).toEqual([]);
  expect((await run()).stdout).toMatch(MIGRATIONS);
  await startServer({ RESELLER_DATA_DIR: directory });
  expect((await run('--dry-run')).stdout).toBe('The store is up to date.\n');
});
