/** The program as a process: signals, pipes, terminals, other programs, and the disk. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';

import { advanceClock, createAccount, createFault, listFaults } from '@reseller/operator-client';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { byDepth } from '../../../.config/depth.ts';
import { PERSON } from '../../../packages/service/test/domains.ts';
import { ioOfProcess } from '../src/io.ts';
import { manPages } from '../src/man-page.ts';
import { buildProgram } from '../src/program.ts';
import { newFolder, person, program, resultOf } from './cli.ts';
import type { Person } from './cli.ts';
import { pendingOf, SMALL_VM, vmsOf } from './purchases.ts';
import { sandboxOfFile } from './sandbox.ts';
import type { Sandbox } from './sandbox.ts';

const startSandbox = sandboxOfFile();
let sandbox: Sandbox;
let user: Person;

beforeAll(async () => {
  sandbox = await startSandbox();
});

beforeEach(() => {
  user = person({ RESELLER_DATA_DIR: sandbox.dataFolder });
});

/** The output of a command that ends well. */
async function printed(...given: readonly string[]): Promise<string> {
  const { code, stdout } = await resultOf(await user.start(...given));
  expect(code).toBe(0);
  return stdout;
}

function fileWith(content: string): string {
  const file = join(newFolder(), 'script');
  writeFileSync(file, content);
  return file;
}

test('ends when the next program of a pipe has read enough', async () => {
  const file = await program();
  const { status, stderr } = spawnSync('sh', ['-c', `'${process.execPath}' '${file}' man | head -1`], {
    encoding: 'utf8',
    env: user.env,
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

test('needs no current folder', async () => {
  const folder = newFolder();
  const file = await program();
  const { status, stdout } = spawnSync('sh', ['-c', `cd '${folder}' && rmdir '${folder}' && '${process.execPath}' '${file}' --version`], {
    encoding: 'utf8',
    env: user.env,
  });
  expect([status, stdout]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)]);
});

test('prints a watched list again when it differs, until it is interrupted', async () => {
  const watching = await user.start('domain', 'handle', 'countries', '--watch', '0.1', '-o', 'json');
  await once(watching.stdout, 'data');
  watching.kill('SIGINT');
  expect(await once(watching, 'exit')).toEqual([0, null]);

  const accounts = await user.start('operator', 'accounts', 'list', '--watch', '0.1', '--columns', 'name');
  let output = '';
  accounts.stdout.on('data', (chunk) => (output += chunk));
  await expect.poll(() => output).toContain('Demo reseller');
  await createAccount({ client: sandbox.operator, body: { name: 'Seen while watching', credit_limit: '0.00' } });
  await expect.poll(() => output).toContain('Seen while watching');
  accounts.kill('SIGTERM');
  await once(accounts, 'exit');
  expect(output.match(/Seen while watching/g)).toHaveLength(1);
});

test('man shows each page without a warning', ({ skip }) => {
  if (spawnSync('groff', ['--version']).status !== 0) skip('groff is not installed');
  const pages = [...manPages(buildProgram(ioOfProcess()))];
  const files = pages.map(([, page]) => fileWith(page));
  const { stderr } = spawnSync('groff', ['-man', '-Tutf8', '-ww', '-z', ...files], { encoding: 'utf8' });
  expect(stderr).toBe('');
  if (spawnSync('man', ['--version']).status !== 0) return;
  const shown = spawnSync('man', ['--warnings', '-l', files.at(-1) ?? ''], {
    encoding: 'utf8',
    env: { ...user.env, LC_ALL: 'C.UTF-8', MANPAGER: 'cat' },
  });
  expect({ stderr: shown.stderr, isShown: /NAME/.test(shown.stdout) }).toEqual({ stderr: '', isShown: true });
});

describe('in bash', () => {
  /** What bash offers for the last word after Tab. */
  async function offered(words: readonly string[]): Promise<{ values: string[]; stderr: string }> {
    const folder = newFolder();
    writeFileSync(join(folder, 'reseller'), `#!/bin/sh\nexec '${process.execPath}' '${await program()}' "$@"\n`, { mode: 0o755 });
    const script = fileWith(await printed('complete', 'bash'));
    const typed = `source '${script}'; source '${script}'; COMP_WORDS=(reseller "$@"); COMP_CWORD=$#; __reseller_complete; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const bash = spawn('bash', ['--norc', '-uc', typed, 'bash', ...words], {
      env: { ...user.env, PATH: `${folder}:${process.env['PATH']}` },
    });
    const { stdout, stderr } = await resultOf(bash);
    return { values: stdout.split('\n').filter((value) => value !== ''), stderr };
  }

  test('completes identifiers of the service, and the values after an equals sign', async () => {
    const [vm] = (await sandbox.reseller.vm.list()).list;
    expect(await offered(['vm', 'status', ''])).toEqual({ values: expect.arrayContaining([String(vm?.vmid)]), stderr: '' });
    expect((await offered(['vm', 'create', '--os', '=', 'debian'])).values).toContain('debian_12');
  });

  test('runs no command of the line', async () => {
    const file = join(newFolder(), 'ran');
    await offered(['vm', 'status', `$(touch ${file})`]);
    expect(existsSync(file)).toBe(false);
  });
});

test.each(byDepth({ usual: ['bash'], deep: ['bash', 'zsh', 'fish'] }))('the completion script of %s can be loaded', async (shell) => {
  const stdout = await printed('complete', shell);
  if (spawnSync(shell, ['--version']).status === 0) expect(execFileSync(shell, ['-n', fileWith(stdout)], { encoding: 'utf8' })).toBe('');
  else expect(stdout).toContain('reseller');
});

test('contract calls the service of the other commands, and never sends their key to another address', async () => {
  const other = await listenOnLocalDefault();
  const someone = person({ RESELLER_BASE_URL: sandbox.baseUrl, RESELLER_API_KEY: sandbox.apiKey, RESELLER_PORT: String(other.port) });
  install('contract', 'contract-tests', someone);
  const ran = await resultOf(await someone.start('contract', '--only', 'listSales', '--quiet'));
  expect([ran.code, other.requests()]).toEqual([0, 0]);
  other.close();
});

test('mock listens at the address of its profile, and the other commands reach it there', { tags: 'deep' }, async () => {
  const { port, close } = await listenOnLocalDefault();
  close();
  install('mock', 'mock', user);
  const url = `http://127.0.0.1:${port}`;
  await user.runWith('any-key\n', 'profile', 'add', 'mock', '--url', url);
  await user.runWith('any-key\n', 'profile', 'add', 'live', '--url', 'https://api.provider.example');
  const mock = await user.start('mock', '--profile=mock');
  let output = '';
  mock.stdout.on('data', (chunk) => (output += chunk));
  await expect.poll(() => output).toContain(`Mock: ${url}`);
  expect(await user.run('domain', 'list', '--profile', 'mock')).toMatchObject({ code: 0, stdout: expect.stringContaining('.net') });
  mock.kill('SIGTERM');
  await once(mock, 'exit');
  expect(await user.run('mock', '--profile', 'live')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('must be http://127.0.0.1:PORT'),
  });
});

test('diff calls no service, and says so to a person who names one', async () => {
  install('contract', 'contract-tests', user);
  expect(await user.run('diff', '--profile', 'live', 'old.yaml', 'new.yaml')).toMatchObject({
    code: 2,
    stderr: 'Error: reseller diff calls no service. Leave out --profile.\n',
  });
});

/** Installs the package of a command, as npm would in the folder of a project. */
function install(name: 'contract' | 'mock', app: string, { configFolder }: Person): void {
  const place = join(configFolder, '../node_modules/@reseller', name);
  mkdirSync(place, { recursive: true });
  const bin = { [name === 'mock' ? 'reseller-mock' : name]: 'main.js' };
  writeFileSync(join(place, 'package.json'), JSON.stringify({ name: `@reseller/${name}`, type: 'module', bin }));
  writeFileSync(join(place, 'main.js'), `await import(${JSON.stringify(new URL(`../../${app}/src/main.ts`, import.meta.url).href)});`);
}

/** A server at the port that the contract command would take by default, with the number of requests that it received. */
async function listenOnLocalDefault() {
  let requests = 0;
  const server = createServer((_request, response) => {
    requests++;
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return { port: typeof address === 'object' ? address?.port : undefined, requests: () => requests, close: () => void server.close() };
}

/** Starts a purchase, and waits until the service has it. The service does not respond for a minute. */
async function startHeldPurchase() {
  await createFault({
    client: sandbox.operator,
    body: { operations: ['createVm'], effect: { kind: 'delay', milliseconds: 60_000 }, times: 1 },
  });
  const running = await user.start('vm', 'create', ...SMALL_VM, '--yes');
  await expect.poll(async () => (await listFaults({ client: sandbox.operator })).items).toEqual([]);
  return running;
}

test('buys once when the program is killed while it waits, and refuses the same command until then', async () => {
  const before = await vmsOf(sandbox);
  const running = await startHeldPurchase();
  expect(await user.run('vm', 'create', ...SMALL_VM, '--yes')).toMatchObject({
    code: 7,
    stderr: expect.stringContaining(`The same command is running in process ${running.pid}.`),
  });
  running.kill('SIGKILL');
  await once(running, 'exit');
  const [file = ''] = pendingOf(user);
  expect(statSync(join(user.stateFolder, 'pending', file)).mode & 0o777).toBe(0o600);
  expect(readFileSync(join(user.stateFolder, 'pending', file), 'utf8')).not.toContain(sandbox.apiKey);
  const again = await user.run('vm', 'create', ...SMALL_VM, '--yes');
  expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining('Continuing the same command') });
  expect((await vmsOf(sandbox)).length).toBe(before.length + 1);
});

test('Ctrl-C during a purchase says how to continue it, and the same line again buys one VM', async () => {
  const before = await vmsOf(sandbox);
  const running = await startHeldPurchase();
  let stderr = '';
  running.stderr.on('data', (chunk) => (stderr += chunk));
  running.kill('SIGINT');
  expect(await once(running, 'close')).toEqual([130, null]);
  expect(stderr).toContain('Interrupted. Run the same line again: it never buys twice.');
  const again = await user.run('vm', 'create', ...SMALL_VM, '--yes');
  expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining('Continuing the same command') });
  expect((await vmsOf(sandbox)).length).toBe(before.length + 1);
  expect(pendingOf(user)).toEqual([]);
});

test('a purchase is on the disk with its name before it is sent, and so is a changed setting', async () => {
  const recorded = join(newFolder(), 'syncs');
  const preload = new URL('../../../.config/recorded-syncs.ts', import.meta.url).href;
  user = person({ RESELLER_DATA_DIR: sandbox.dataFolder, NODE_OPTIONS: `--import=${preload}`, RECORDED_SYNCS: recorded });
  expect(await resultOf(await user.start('vm', 'create', ...SMALL_VM, '--yes'))).toMatchObject({ code: 0 });
  const lines = readFileSync(recorded, 'utf8').split('\n');
  const folder = join(user.stateFolder, 'pending');
  expect(lines.slice(0, lines.indexOf(`send PUT ${sandbox.baseUrl}/vm/create`)).slice(-3)).toEqual([
    expect.stringMatching(/^sync .*\/pending\/\w+\.json\.\d+\.new$/),
    expect.stringMatching(/^name .*\/pending\/\w+\.json$/),
    `sync ${folder}`,
  ]);
  await resultOf(await user.start('profile', 'add', 'other', '--url', sandbox.baseUrl), 'key\n');
  expect(readFileSync(recorded, 'utf8').trimEnd().split('\n').slice(-3)).toEqual([
    expect.stringMatching(/^sync .*\.new$/),
    expect.stringMatching(/^name /),
    `sync ${user.configFolder}`,
  ]);
});

test('a purchase whose output is lost is shown again by the same command, and bought once', async ({ skip }) => {
  if (process.platform !== 'linux') return skip('only Linux has /dev/full');
  const before = await vmsOf(sandbox);
  const full = openSync('/dev/full', 'w');
  const child = spawn(process.execPath, [await program(), 'vm', 'create', ...SMALL_VM, '--yes'], {
    env: user.env,
    stdio: ['ignore', full, 'ignore'],
  });
  const [code] = await once(child, 'exit');
  closeSync(full);
  expect(code).not.toBe(0);
  expect(pendingOf(user)).toHaveLength(1);
  const again = await user.run('vm', 'create', ...SMALL_VM, '--yes', '-o', 'json');
  expect(again.code).toBe(0);
  expect(JSON.parse(again.stdout).config.password).toMatch(/^\w{12,}$/);
  expect((await vmsOf(sandbox)).length).toBe(before.length + 1);
});

test('a renewal that a person confirms is the one of the shown expiry', async ({ skip }) => {
  if (process.platform !== 'linux') skip('needs script of util-linux, which gives a program a terminal');
  const { domain } = sandbox.reseller;
  const { handle } = await domain.handle.create(PERSON);
  await domain.register({ domain: 'confirmed-once.net', handle });
  const expiry = async () => (await domain.info('confirmed-once.net')).timings.expire;
  const shown = await expiry();
  const line = `'${process.execPath}' '${await program()}' domain renew confirmed-once.net`;
  const terminal = spawn('script', ['-qec', line, '/dev/null'], { env: user.env });
  let output = '';
  for (const stream of [terminal.stdout, terminal.stderr]) stream.on('data', (part) => (output += String(part)));
  await expect.poll(() => output).toContain('Do it? [y/N]');
  expect(output).toContain(`Expires: ${shown}`);
  // Meanwhile, somebody else renews it.
  await domain.renew('confirmed-once.net');
  const renewed = await expiry();
  await advanceClock({ client: sandbox.operator, body: { by_seconds: 61 } });
  terminal.stdin.write('y\n');
  await once(terminal, 'close');
  expect(output).toContain(renewed);
  expect(await expiry()).toBe(renewed);
});
