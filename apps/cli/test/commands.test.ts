/** The command line as its user types it: input, output, profiles, exit codes. */
import { once } from 'node:events';
import { chownSync, cpSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';

import { createAccount, listApiKeys } from '@reseller/operator-client';
import type { Command } from 'commander';
import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { parse } from 'yaml';

import { EXIT, exitCodes } from '../src/failure.ts';
import { ioOfProcess } from '../src/io.ts';
import { manPages } from '../src/man-page.ts';
import { render } from '../src/output.ts';
import { buildProgram } from '../src/program.ts';
import { newFolder, person } from './cli.ts';
import type { Person } from './cli.ts';
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

describe('the service', () => {
  test('of a profile stays when only the address of the operator API is in the environment', async () => {
    await user.runWith(`${sandbox.apiKey}\n`, 'profile', 'add', 'mine', '--url', sandbox.baseUrl);
    const both = person({ RESELLER_OPERATOR_URL: 'http://127.0.0.1:9', RESELLER_CONFIG_DIR: user.configFolder });
    expect(await both.run('vm', 'hosts')).toMatchObject({ code: 0 });
  });

  test.each([
    ['RESELLER_BASE_URL', 'http://127.0.0.1:4010 '],
    ['RESELLER_API_KEY', 'rsk_a\n'],
  ])('is refused by name if %s has a blank or the end of a line', async (name, value) => {
    const given = person({ RESELLER_BASE_URL: sandbox.baseUrl, RESELLER_API_KEY: sandbox.apiKey, [name]: value });
    expect(await given.run('vm', 'hosts')).toMatchObject({ code: 2, stderr: expect.stringContaining(`Set ${name}, or the profile`) });
  });
});

describe('input', () => {
  test('names every missing option at once', async () => {
    expect(await user.run('vm', 'create', '--cores', '2')).toEqual({
      code: 2,
      stdout: '',
      stderr: "Error: --mem, --disk, --os, --hostsystem are missing. See 'reseller vm create --help'.\n",
    });
  });

  const wrong = [
    { given: ['vm', 'create', '--cores', '2.5'], message: '--cores must be a whole number, got "2.5".' },
    { given: ['vm', 'create', '--cores', '9007199254740993'], message: '--cores must be a whole number, got "9007199254740993".' },
    {
      given: ['operator', 'settings', 'set-second-operator', '--second-operator', 'yes'],
      message: '--second-operator must be true or false, got "yes".',
    },
    {
      given: ['operator', 'settings', 'set-quotas', '--default-quotas', '{'],
      message: '--default-quotas must be JSON, or @FILE with JSON',
    },
    {
      given: ['operator', 'settings', 'set-quotas', '--default-quotas', '@missing.json'],
      message: 'The file of --default-quotas cannot be read',
    },
    { given: ['operator', 'accounts', 'create', '--body', '-'], message: 'The file of --body is not JSON' },
    { given: ['vm', 'list', '--watch', '0'], message: '--watch must be a number of seconds of at least 0.1, got "0".' },
    { given: ['vm', 'list', '--output', 'xml'], message: 'Allowed choices are table, json, yaml' },
    { given: ['vm', 'lst'], message: "unknown command 'lst'" },
    { given: ['request', 'list', '--help'], message: "unknown command 'request'" },
    { given: ['vm', 'config'], message: "missing required argument 'vmid'" },
  ];
  test.each(wrong)('refuses $given with exit code 2', async ({ given, message }) => {
    expect(await user.run(...given)).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(message) });
  });

  test('takes a body from a file, and single fields from options', async () => {
    const file = join(newFolder(), 'account.json');
    writeFileSync(file, JSON.stringify({ name: 'From a file', credit_limit: '5.00' }));
    const { code, stdout } = await user.run('operator', 'accounts', 'create', '--body', file, '--credit-limit', '7.00', '-o', 'json');
    expect({ code, account: JSON.parse(stdout) }).toMatchObject({ code: 0, account: { name: 'From a file', credit_limit: '7.00' } });
    expect(
      await user.run('operator', 'accounts', 'set-quotas', JSON.parse(stdout).id, '--vms', '3', '--handles', 'null', '-o', 'json'),
    ).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/"vms": 3,\s+"handles": null/),
    });
  });
});

describe('output', () => {
  test('of a list without headers has the identifiers alone, for a loop of a shell', async () => {
    await sandbox.reseller.vm.create({ cores: 1, mem: 1024, disk: 10, os: 'debian_12', hostsystem: 'nl_ryzen' });
    const { stdout } = await user.run('vm', 'list', '--no-header', '--columns', 'vmid');
    expect(stdout).toMatch(/^(?:\d+\n)+$/);
  });

  test('of the help has no technical name of a group', () => {
    const groups = (command: Command): string[] =>
      command.commands.flatMap((one) => (one.commands.length > 0 ? [`${one.name()}: ${one.description()}`, ...groups(one)] : []));
    const shown = groups(buildProgram(ioOfProcess()));
    expect(shown).toContain('iso: ISO files of a virtual server');
    expect(shown.filter((line) => /: (?:VM|IP|Domain|Account|Service|Access|Catalogue|API key)$/.test(line))).toEqual([]);
  });

  test('of open is the address of the page in the console', async () => {
    const { code, stdout } = await user.run('open', 'vm', '48213');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/console\/vms\/48213\n$/)]);
  });

  test('returns the same data as JSON and YAML', async () => {
    const hosts = await sandbox.reseller.vm.hosts();
    expect(JSON.parse((await user.run('vm', 'hosts', '-o', 'json')).stdout)).toEqual(hosts);
    expect(parse((await user.run('vm', 'hosts', '-o', 'yaml')).stdout)).toEqual(hosts);
  });

  test('prints small amounts as plain decimals, because YAML 1.1 reads 1.3e-7 as a text', () => {
    const data = { list: [{ monthlyPrice: 1.3e-7, hourly: -1e-8, cores: 2 }] };
    const layout = { columns: undefined, width: 80 };
    expect(render(data, { ...layout, format: 'table' })).toContain('0.00000013  -0.00000001      2');
    const yaml = render(data, { ...layout, format: 'yaml' });
    expect(yaml).toBe('list:\n  - monthlyPrice: 0.00000013\n    hourly: -0.00000001\n    cores: 2\n');
    expect(parse(yaml, { version: '1.1' })).toEqual(data);
    const json = render(data, { ...layout, format: 'json' });
    expect(json).toContain('"monthlyPrice": 0.00000013,');
    expect(JSON.parse(json)).toEqual(data);
  });

  test('prints the named columns of a table, with numbers to the right', async () => {
    const { stdout } = await user.run('vm', 'hosts', '--columns', 'name,configuration.cores.max');
    expect(stdout.split('\n')).toEqual([
      'name      configuration.cores.max',
      'de_epyc                        32',
      'de_xeon                        16',
      'nl_ryzen                       16',
      '',
    ]);
  });

  test('prints the named columns of the lists inside an object', () => {
    const data = { total: 1, vms: [{ identifier: 7, cores: 2 }], domains: [{ domain: 'a.example' }], servers: [{ identifier: 8 }] };
    const layout = { format: 'table', columns: ['identifier', 'domains'], width: undefined } as const;
    expect(render(data, layout)).toBe('vms\nidentifier\n         7\n\ndomains\ndomain\na.example\n\nservers\nidentifier\n         8\n');
  });

  const deciding = [
    { given: ['dedicated', 'available'], first: ['price.net', 'cpu.type', 'memory.size', 'identifier'] },
    { given: ['vm', 'hosts'], first: ['name', 'core.price_net', 'mem.price_net'] },
    { given: ['account', 'requests'], first: ['requestDate', 'method', 'endpoint'] },
    { given: ['accounting', 'sales'], first: ['title', 'startDate.value'] },
    { given: ['operator', 'vms', 'list'], first: ['id', 'monthly_price', 'ipv4', 'cores'] },
    { given: ['operator', 'dedicated', 'market'], first: ['price', 'cpu.type', 'memory.size', 'id'] },
  ];
  test.each(deciding)('begins a table of $given with the columns that decide', async ({ given, first }) => {
    const { stdout } = await user.run(...given);
    const header = stdout.split('\n').find((line) => line.includes(String(first[0]))) ?? '';
    expect(header.trim().split(/ +/).slice(0, first.length)).toEqual(first);
  });

  test('refuses an unknown column before anything is sent, and names those that exist', async () => {
    for (const given of [
      ['--columns', 'price.net,cpu'],
      ['--sort', '-cpu'],
    ]) {
      expect(await user.run('dedicated', 'available', ...given)).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringMatching(/^Error: cpu is not a column of this result\. Its columns are: identifier, .*hardware\.cpu\.type/),
      });
    }
    const before = (await sandbox.reseller.vm.list()).list.length;
    const purchase = ['--cores', '1', '--mem', '2048', '--disk', '10', '--os', 'debian_12', '--hostsystem', 'nl_ryzen', '--yes'];
    expect(await user.run('vm', 'create', ...purchase, '--columns', 'password')).toMatchObject({ code: 2 });
    expect((await sandbox.reseller.vm.list()).list).toHaveLength(before);
    expect(await user.run('domain', 'pricings', '--columns', 'net.price_net.create')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('net.price_net.create  '),
    });
  });

  test('sorts numbers as numbers, in both directions, and leaves out the header', async () => {
    const cores = ['vm', 'hosts', '--columns', 'configuration.cores.max', '--no-header', '--sort'];
    const inOrder = async (sort: string) => (await user.run(...cores, sort)).stdout.trim().split('\n').map(Number);
    expect(await inOrder('configuration.cores.max')).toEqual([16, 16, 32]);
    expect(await inOrder('-configuration.cores.max')).toEqual([32, 16, 16]);
    const data = [{ n: 10 }, { n: null }, { n: 9 }, { n: '100' }];
    expect(JSON.parse(render(data, { format: 'json', columns: undefined, width: undefined, sort: '-n' }))).toEqual([
      { n: '100' },
      { n: 10 },
      { n: 9 },
      { n: null },
    ]);
  });

  test('hides secrets that it reads, unless they are asked for', async () => {
    const [server] = await sandbox.reseller.dedicated.list();
    const password = String(server?.management?.password);
    expect(password).toMatch(/\w/);
    for (const format of ['table', 'json', 'yaml']) {
      expect((await user.run('dedicated', 'list', '-o', format)).stdout).not.toContain(password);
      expect((await user.run('dedicated', 'list', '-o', format, '--show-secrets')).stdout).toContain(password);
    }
  });

  test('shows hostile names without their effect on a terminal', async () => {
    const data = { name: '\u202Etxt.\u001B[31mred', 'a\u009Bname': '株式会社', list: [{ cell: '\u0007\n' }] };
    const text = render(data, { format: 'table', columns: undefined, width: undefined });
    expect(text).toBe('name         \\u202etxt.\\u001b[31mred\na\\u009bname  株式会社\n\nlist\ncell\n\\u0007\\u000a\n');
    await createAccount({ client: sandbox.operator, body: { name: '株式会社 Müller 😀', credit_limit: '0.00' } });
    expect((await user.run('operator', 'accounts', 'list', '--columns', 'name')).stdout).toContain('株式会社 Müller 😀');
  });
});

describe('exit codes', () => {
  test.each([
    { code: 3, given: ['vm', 'power', '48213', '--mode', 'fly'], says: 'mode' },
    { code: 5, given: ['vm', 'config', '99999'], says: 'No such VM exists on this account' },
  ])('$code for $given', async ({ code, given, says }) => {
    expect(await user.run(...given)).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(says) });
  });

  test('7 if the state of the resource does not allow it', async () => {
    const [domain] = await sandbox.reseller.domain.list();
    await user.run('domain', 'undelete', String(domain), '--yes');
    expect(await user.run('domain', 'undelete', String(domain), '--yes')).toMatchObject({ code: 7, stdout: '' });
  });

  test('7 if another operator has changed what the change was for', async () => {
    const shown = await user.run('operator', 'tld-prices', 'show', 'net', '-o', 'json');
    const [, version = ''] = /^Version, for --if-match: (.+)$/m.exec(shown.stderr) ?? [];
    const set = (create: string, ...options: string[]) =>
      user.run('operator', 'tld-prices', 'set', 'net', '--create', create, '--renew', '9.00', '--transfer', '9.00', ...options);
    expect(await set('7.00', '--if-match', version)).toMatchObject({ code: 0 });
    expect(await set('8.00', '--if-match', version)).toMatchObject({
      code: 7,
      stdout: '',
      stderr: expect.stringContaining('has changed since'),
    });
    expect(await set('8.00', '--if-match', '*')).toMatchObject({ code: 0 });
    expect(JSON.parse((await user.run('operator', 'tld-prices', 'show', 'net', '-o', 'json')).stdout)).toMatchObject({ create: '8.00' });
  });

  test('4 for a key that the service does not know', async () => {
    const stranger = person({ RESELLER_BASE_URL: sandbox.baseUrl, RESELLER_API_KEY: 'wrong' });
    expect(await stranger.run('vm', 'list')).toMatchObject({ code: 4, stdout: '' });
  });

  test('4 without a key', async () => {
    const stranger = person({ RESELLER_BASE_URL: sandbox.baseUrl });
    expect(await stranger.run('vm', 'list')).toMatchObject({ code: 4, stderr: expect.stringContaining('Set RESELLER_API_KEY') });
  });

  test('8 if nothing responds at the address', async () => {
    const lost = person({ RESELLER_BASE_URL: 'http://127.0.0.1:9', RESELLER_API_KEY: 'key' });
    expect(await lost.run('vm', 'list')).toMatchObject({ code: 8, stdout: '' });
  });

  test('2 if no service is known, with the command that exists before the first release', async () => {
    const sandboxCommand = "'npx --package ./reseller-sandbox-*.tgz reseller-sandbox'";
    const newcomer = person({ RESELLER_DATA_DIR: newFolder(), HOME: newFolder(), XDG_DATA_HOME: newFolder() });
    expect(await newcomer.run('vm', 'list')).toMatchObject({ code: 2, stderr: expect.stringContaining(sandboxCommand) });
    expect(await newcomer.run('sandbox')).toMatchObject({ code: 1, stderr: expect.stringContaining('--global ./reseller-sandbox-*.tgz') });
  });

  test('2 if the only sandbox in a folder above is that of another user', async ({ skip }) => {
    skip(process.getuid?.() !== 0, 'only root can give a file to another user');
    const newcomer = person({ HOME: newFolder(), XDG_DATA_HOME: newFolder() });
    const folder = join(newcomer.configFolder, '../.data');
    cpSync(sandbox.dataFolder, folder, { recursive: true, filter: (file) => !file.includes('sock') });
    expect(await newcomer.run('vm', 'hosts')).toMatchObject({ code: 0 });
    chownSync(join(folder, 'running.json'), 65_534, 65_534);
    expect(await newcomer.run('vm', 'hosts')).toMatchObject({ code: 2, stderr: expect.stringContaining('No service is known') });
  });

  test('the README lists all of them', () => {
    const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8');
    for (const [code, meaning] of exitCodes()) expect(readme).toContain(`| ${code} | ${meaning} |`);
  });
});

describe('what cannot be undone', () => {
  const destructive = [
    ['account', 'keys', 'revoke', '01900000-0000-7000-8000-000000000001'],
    ['vm', 'delete', '48213'],
    ['operator', 'sandbox', 'reset'],
  ];
  test.each(destructive)('asks before %s %s', async (...given) => {
    expect(await user.run(...given)).toMatchObject({ code: 10, stderr: expect.stringMatching(/cannot be undone[^]*Add --yes/) });
  });
});

test('a response without data prints its message, and nothing on the standard output', async () => {
  const publicKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGQ68nNfvYqw2InZtndUd3766FLmlsYXt1E2bKmPkccs';
  const added = await user.run('vm', 'ssh-key', 'add', '--ssh-key', publicKey, '-o', 'json');
  const { ssh_key_id: key } = JSON.parse(added.stdout);
  const removed = await user.run('vm', 'ssh-key', 'remove', key);
  expect(removed).toMatchObject({ code: 0, stdout: '', stderr: expect.stringMatching(/removed/i) });
});

describe('profiles', () => {
  test('keep the key out of the list and in a file that only the user can read', async () => {
    const empty = person({ RESELLER_DATA_DIR: newFolder() });
    const added = await empty.runWith(`${sandbox.apiKey}\n`, 'profile', 'add', 'test', '--url', sandbox.baseUrl);
    expect(added).toMatchObject({ code: 0, stderr: expect.stringContaining('which only you can read') });
    expect(await empty.run('vm', 'list')).toMatchObject({ code: 0 });
    expect(readFileSync(join(empty.configFolder, 'profiles.json'), 'utf8')).not.toContain(sandbox.apiKey);
    expect(statSync(join(empty.configFolder, 'credentials.json')).mode & 0o777).toBe(0o600);
    const listed = await empty.run('profile', 'list');
    expect(listed.stdout).toMatch(/^yes +test /m);
    expect(listed.stdout).not.toContain(sandbox.apiKey);
    expect(await empty.run('profile', 'remove', 'test')).toMatchObject({ code: 0 });
    expect(readFileSync(join(empty.configFolder, 'credentials.json'), 'utf8')).not.toContain(sandbox.apiKey);
    expect(await empty.run('vm', 'list', '--profile', 'test')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('There is no profile "test".'),
    });
  });

  test.runIf(process.platform === 'linux')('are in a file where no desktop session has a keyring', async () => {
    const remote = person({ RESELLER_DATA_DIR: newFolder(), RESELLER_KEYRING: '', DBUS_SESSION_BUS_ADDRESS: '' });
    expect(await remote.runWith('key\n', 'profile', 'add', 'live', '--url', sandbox.baseUrl)).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('no keyring (there is no desktop session)'),
    });
    expect(statSync(join(remote.configFolder, 'credentials.json')).mode & 0o777).toBe(0o600);
  });

  test('can be replaced and removed when the keyring with their keys cannot be opened', async () => {
    const moved = person({ RESELLER_DATA_DIR: newFolder() });
    const lost = { name: 'lost', baseUrl: sandbox.baseUrl, storedIn: 'keyring' };
    mkdirSync(moved.configFolder);
    writeFileSync(join(moved.configFolder, 'profiles.json'), JSON.stringify({ current: 'lost', profiles: [lost] }));
    expect(await moved.run('vm', 'list')).toMatchObject({ code: 1, stderr: expect.stringContaining("'reseller profile remove lost'") });
    expect(await moved.run('profile', 'remove', 'lost')).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('may still be in the keyring'),
    });
    expect((await moved.run('profile', 'list')).stdout).not.toContain('lost');
  });

  test('the named profile wins over the environment, and the environment over the current profile', async () => {
    const env = { RESELLER_DATA_DIR: newFolder(), RESELLER_BASE_URL: 'http://127.0.0.1:9', RESELLER_API_KEY: 'key' };
    const both = person(env);
    await both.runWith(`${sandbox.apiKey}\n`, 'profile', 'add', 'sandbox', '--url', sandbox.baseUrl);
    expect(await both.run('vm', 'list')).toMatchObject({ code: 8 });
    expect(await both.run('vm', 'list', '--profile', 'sandbox')).toMatchObject({ code: 0 });
  });

  const addresses = [
    { url: 'http://localhost.example', message: 'must begin with https://' },
    { url: 'http://127.0.0.1.example', message: 'must begin with https://' },
    { url: 'ftp://127.0.0.1', message: 'must be an address such as' },
    { url: 'https://user:secret@api.example.com', message: 'must not contain a user or a password' },
    { url: 'api.example.com', message: 'must be an address such as' },
  ];
  test.each(addresses)('refuse the address $url', async ({ url, message }) => {
    expect(await user.runWith('key\n', 'profile', 'add', 'bad', '--url', url)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(message),
    });
  });

  test('refuse an empty key and a name that is not a name', async () => {
    expect(await user.runWith('\n', 'profile', 'add', 'a', '--url', sandbox.baseUrl)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is empty'),
    });
    expect(await user.runWith('key\n', 'profile', 'add', '../a', '--url', sandbox.baseUrl)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('not a valid name'),
    });
  });
});

describe('help', () => {
  test('the manual pages have every command', () => {
    const commands = buildProgram(ioOfProcess());
    const all = [...manPages(commands).values()].join('\n');
    expect(leaves(commands).filter((words) => !all.includes(`.SS reseller ${words.replaceAll('-', '\\-')}`))).toEqual([]);
  });

  test('prints the page of a group, and names the groups if there is none', async () => {
    const { stdout } = await user.run('man', 'operator', 'vms');
    expect(stdout).toContain('.SS reseller operator vms quote\\-resize <vm_id>');
    expect(stdout).toContain('.EX\nreseller operator vms resize 48213 \\-\\-cores 4');
    expect(await user.run('man', 'nothing')).toMatchObject({ code: 2, stderr: expect.stringContaining('vm, dedicated, domain') });
  });

  test('shows commands, not HTTP requests, the defaults, and an example', async () => {
    const { stdout } = await user.run('vm', 'create', '--help');
    expect(stdout).toMatch(/--ips <integer> .*\(default: 1\)/);
    expect(stdout).toMatch(/Example:\n {2}reseller vm create --cores \d+ --mem \d+/);
    expect(stdout).toContain('reseller vm hosts');
    const manual = [...manPages(buildProgram(ioOfProcess())).values()].join('\n');
    expect(manual.match(/\b(?:GET|PUT|POST|DELETE) \/[\w{}/-]+/g) ?? []).toEqual([]);
  });

  test.each(['mock', 'diff'])('of %s is shown, and nothing is started', async (name) => {
    expect(await user.run(name, '--help')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`Usage: reseller ${name}`),
      stderr: '',
    });
  });

  describe('completes', () => {
    /** What a shell offers for the last word, with descriptions after a tab. */
    async function complete(words: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string[]> {
      // The library writes to the console.
      const log = vi.spyOn(console, 'log').mockImplementation(() => {});
      const someone = person({ RESELLER_DATA_DIR: sandbox.dataFolder, ...env });
      expect(await someone.run('complete', '--', ...words)).toEqual({ code: 0, stdout: '', stderr: '' });
      const lines = log.mock.calls.map(([line]) => String(line));
      log.mockRestore();
      return lines;
    }
    async function valuesOf(...words: readonly string[]): Promise<string[]> {
      return (await complete(words)).filter((line) => !line.startsWith(':')).map((line) => line.replace(/\t.*/, ''));
    }

    /** Values that the service has. A completion gives up soon on a busy machine, and the next one tries again. */
    function offered(...words: string[]): Promise<string[]> {
      return vi.waitFor(
        async () => {
          const values = await valuesOf(...words);
          expect(values).not.toEqual([]);
          return values;
        },
        { timeout: 300_000 },
      );
    }

    test('commands, options and values', async () => {
      expect(await complete(['vm', 'cr'])).toContain('create\tCreate a VM');
      expect((await complete(['vm', 'create', '--co'])).join('\n')).toMatch(/^--cores\t/m);
      expect(await valuesOf('vm', 'create', '--os', '')).toContain('debian_12');
      expect(await valuesOf('operator', 'accounts', 'sus')).toContain('suspend');
    });

    test('identifiers of the service, once', async () => {
      const [vm] = (await sandbox.reseller.vm.list()).list;
      const vmid = String(vm?.vmid);
      expect(await offered('vm', 'status', '')).toContain(vmid);
      expect(await valuesOf('vm', 'status', vmid, '')).toEqual([]);
      expect(await offered('operator', 'vms', 'list', '--account-id', '')).toContain(sandbox.accountId);
      const [invoice = ''] = await offered('accounting', 'invoice', '');
      expect((await user.run('accounting', 'invoice', invoice)).code).toBe(0);
      expect(await offered('vm', 'create', '--hostsystem', '')).toContain('nl_ryzen');
      const keys = await sandbox.reseller.vm.sshKey.list();
      expect(await offered('vm', 'create', '--ssh-key-id', '')).toEqual(keys.map((key) => key.ssh_key_id));
    });

    test('the contacts of the domains, and the keys of the accounts', async () => {
      const [domain = ''] = await sandbox.reseller.domain.list();
      const { ownerC: handle } = (await sandbox.reseller.domain.info(domain)).handle;
      const handles = await offered('domain', 'handle', 'info', '');
      expect(handles).toContain(handle);
      expect(handles).toEqual([...new Set(handles)]);
      expect(await offered('domain', 'register', '--domain', 'new.net', '--handle', '')).toContain(handle);
      // The name of a domain to register is a new one.
      expect(await valuesOf('domain', 'register', '--domain', '')).toEqual([]);
      const { items } = await listApiKeys({ client: sandbox.operator, path: { account_id: sandbox.accountId } });
      expect(await offered('operator', 'api-keys', 'revoke', '')).toEqual(expect.arrayContaining(items.map(({ id }) => id)));
    });

    test.each([[['--profile=mine']], [['--profile', 'mine']]])('identifiers of the service of a profile: %s', async (option) => {
      await user.runWith(`${sandbox.apiKey}\n`, 'profile', 'add', 'mine', '--url', sandbox.baseUrl);
      await user.runWith('key\n', 'profile', 'add', 'present', '--url', 'http://127.0.0.1:1');
      const [vm] = (await sandbox.reseller.vm.list()).list;
      const env = { RESELLER_CONFIG_DIR: user.configFolder, RESELLER_DATA_DIR: undefined };
      await expect.poll(() => complete(['vm', 'status', ...option, ''], env).then(String)).toContain(String(vm?.vmid));
      expect((await complete(['vm', 'status', ''], env)).join('\n')).not.toContain(String(vm?.vmid));
    });

    test('nothing, and says nothing, without a service', async () => {
      const silent = createServer();
      silent.listen(0, '127.0.0.1');
      await once(silent, 'listening');
      const { port } = Object(silent.address());
      for (const url of ['http://127.0.0.1:1', `http://127.0.0.1:${port}`]) {
        const lines = await complete(['vm', 'status', ''], { RESELLER_BASE_URL: url, RESELLER_API_KEY: 'key' });
        expect(lines.filter((line) => !line.startsWith(':'))).toEqual([]);
      }
      silent.closeAllConnections();
      silent.close();
    });
  });
});

function leaves(command: Command, words: readonly string[] = []): string[] {
  if (command.commands.length === 0) return [words.join(' ')];
  return command.commands.flatMap((inner) => leaves(inner, [...words, inner.name()]));
}

test.each([
  ['3600', 'Wait 3600 s, then run the command again.', ''],
  ['6', '', 'The service asks to wait 6 seconds. The command goes on then.'],
  ['0', '', ''],
])('a rate limit with Retry-After %s says how long to wait', async (retryAfter, end, meanwhile) => {
  let left = 1;
  const problem = { status: 'error', type: 'rate_limited', requestID: null, message: 'Too many requests.', data: null };
  const sales = { status: 'success', requestID: null, message: 'The sales.', data: [] };
  const server = createServer((_request, response) => {
    const isLimited = left-- > 0;
    response.writeHead(isLimited ? 429 : 200, { 'content-type': 'application/json', 'retry-after': retryAfter });
    response.end(JSON.stringify(isLimited ? problem : sales));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  const { code, stderr } = await person({ RESELLER_BASE_URL: url, RESELLER_API_KEY: 'key' }).run('accounting', 'sales');
  expect([code, stderr]).toEqual([end === '' ? 0 : EXIT.unavailable, expect.stringContaining(end + meanwhile)]);
  server.close();
});
