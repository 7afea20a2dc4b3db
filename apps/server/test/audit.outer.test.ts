import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import * as operator from '@reseller/operator-client';
import { expect, test } from 'vitest';

import { runCommand, runServer, startServer, temporaryDirectory } from './process.ts';

const TOKEN = 'operator-token-of-the-audit-tests-01';

async function run(environment: Readonly<Record<string, string>>) {
  const server = await startServer({ RESELLER_OPERATOR_TOKEN: TOKEN, ...environment });
  const client = operator.createClient({ baseUrl: server.operatorUrl, token: TOKEN });
  return { server, create: (name: string) => operator.createAccount({ client, body: { name, credit_limit: '1.00' } }) };
}

const linesOf = (file: string): { seq: number; hash: string; operation: string; after: { name: string } }[] =>
  readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

test('every audit record is appended to the file while the service runs, and a restart continues it', async () => {
  const directory = temporaryDirectory();
  const file = join(directory, 'audit.jsonl');
  const environment = { RESELLER_DATA_DIR: directory, RESELLER_AUDIT_FILE: file };
  const first = await run(environment);
  await first.create('one');
  await first.create('two');
  await expect.poll(() => linesOf(file).length).toBe(2);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  await first.create('three');
  await first.server.end('SIGTERM');
  expect(linesOf(file).map(({ seq, operation, after }) => [seq, operation, after.name])).toEqual([
    [1, 'createAccount', 'one'],
    [2, 'createAccount', 'two'],
    [3, 'createAccount', 'three'],
  ]);
  // A crash may cut off the last line.
  writeFileSync(file, readFileSync(file, 'utf8').slice(0, -20));
  const second = await run(environment);
  await second.create('four');
  await second.server.end('SIGTERM');
  expect(linesOf(file).map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
  const verified = await runCommand('verify-audit', [], { RESELLER_DATA_DIR: directory });
  const { seq, hash } = linesOf(file)[3] ?? {};
  expect(verified.stdout).toBe(
    `The chain is intact: 4 records verified.\nNote its end elsewhere, and verify it later with --expect ${seq}:${hash}\n`,
  );
  expect(verified.code).toBe(0);
});

test('after the restore of an older backup, the file continues from the last common record', { tags: 'deep' }, async () => {
  const directory = temporaryDirectory();
  const [file, backup] = [join(directory, 'audit.jsonl'), join(directory, 'backup.sqlite')];
  const secret = 'secret-of-the-audit-tests-0123456789';
  const environment = { RESELLER_DATA_DIR: join(directory, 'data'), RESELLER_AUDIT_FILE: file, RESELLER_SECRET: secret };
  const first = await run(environment);
  await first.create('kept');
  expect((await runCommand('backup', ['--to', backup], environment)).code).toBe(0);
  for (const name of ['lost-1', 'lost-2', 'lost-3']) await first.create(name);
  await first.server.end('SIGTERM');
  const restored = { ...environment, RESELLER_DATA_DIR: join(directory, 'restored') };
  expect((await runCommand('restore', ['--from', backup, '--to', restored.RESELLER_DATA_DIR], environment)).code).toBe(0);
  const second = await run(restored);
  await second.create('new');
  await second.server.end('SIGTERM');
  expect(linesOf(file).map(({ seq, after }) => [seq, after.name])).toEqual([
    [1, 'kept'],
    [2, 'lost-1'],
    [3, 'lost-2'],
    [4, 'lost-3'],
    [2, 'new'],
  ]);
  expect(second.server.logged()).toContain('has records up to 4 that are not in the store, as after the restore of a backup');
});

test('verify-audit says where the chain is broken, and refuses what it does not understand', async () => {
  const directory = temporaryDirectory();
  const place = { RESELLER_DATA_DIR: directory };
  const { server, create } = await run(place);
  for (const name of ['one', 'two', 'three']) await create(name);
  await server.end('SIGTERM');
  const noted = /--expect (\S+)/.exec((await runCommand('verify-audit', [], place)).stdout)?.[1] ?? '';
  expect((await runCommand('verify-audit', ['--expect', noted], place)).code).toBe(0);
  const other = await runCommand('verify-audit', ['--expect', `2:${'0'.repeat(64)}`], place);
  expect([other.code, other.stdout]).toEqual([2, expect.stringMatching(/^The chain is broken at record 2: its hash differs/)]);
  const database = new DatabaseSync(join(directory, 'store.sqlite'));
  database.exec(`update audit_records set actor_name = 'somebody else' where seq = 2`);
  database.close();
  const broken = await runCommand('verify-audit', [], place);
  expect([broken.code, broken.stdout]).toEqual([2, expect.stringMatching(/^The chain is broken at record 2: it was changed/)]);
  expect(await runCommand('verify-audit', ['--expect', 'x'], place)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("it is 'x'"),
  });
});

test('the service does not start with a file that is not an audit export', async () => {
  const directory = temporaryDirectory();
  const file = join(directory, 'notes.txt');
  appendFileSync(file, 'not a record\n');
  const { code, stderr } = await runServer({ RESELLER_DATA_DIR: directory, RESELLER_AUDIT_FILE: file });
  expect([code, stderr]).toEqual([1, expect.stringContaining(`The last line of ${file} is not an audit record.`)]);
});
