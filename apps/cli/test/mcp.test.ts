/** The server of the Model Context Protocol, called by the official client over its standard input and output. */
import { createFault, setTldPrice } from '@reseller/operator-client';
import { beforeAll, describe, expect, test } from 'vitest';

import { byDepth } from '../../../.config/depth.ts';
import { assistantOf } from './assistant.ts';
import type { Assistant } from './assistant.ts';
import { sandboxOfFile } from './sandbox.ts';
import type { Sandbox } from './sandbox.ts';

const startSandbox = sandboxOfFile();
let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await startSandbox();
});

function assistant(given: readonly string[], answer?: 'yes' | 'no' | 'cancel'): Promise<Assistant> {
  return assistantOf(sandbox, given, answer);
}

const VM = { cores: 2, mem: 4096, disk: 40, os: 'debian_12', hostsystem: 'nl_ryzen' };

async function countVms(): Promise<number> {
  return (await sandbox.reseller.vm.list()).list.length;
}

/** The longest name of a tool that the APIs of language models accept, and what clients put before it: `mcp__`, the name of the server and `__`. */
const MAX_NAME_LENGTH = 64;
const LONGEST_PREFIX = `mcp__${'s'.repeat(20)}__`;

describe('the list of tools', () => {
  test('has only operations that change nothing, unless writes are allowed', async () => {
    const { tools, call } = await assistant(['--operator']);
    expect(tools.length).toBeGreaterThan(50);
    expect(tools.filter(({ annotations }) => annotations?.readOnlyHint !== true)).toEqual([]);
    const before = await countVms();
    expect(await call('vm_create', VM)).toMatchObject({ ok: false, result: expect.stringContaining('--allow-writes') });
    expect(await countVms()).toBe(before);
  });

  test('has short descriptions and complete schemas', async () => {
    const { tools } = await assistant(['--operator', '--allow-writes'], 'yes');
    const wrong = tools.filter(
      ({ name, description = '', inputSchema }) =>
        !/^[a-z_]+$/.test(name) ||
        `${LONGEST_PREFIX}${name}`.length > MAX_NAME_LENGTH ||
        description.length > 400 ||
        JSON.stringify(inputSchema).includes('$ref') ||
        inputSchema.type !== 'object',
    );
    expect(wrong).toEqual([]);
    const create = tools.find(({ name }) => name === 'vm_create');
    expect(create?.inputSchema.required).toEqual(['cores', 'mem', 'disk', 'os', 'hostsystem']);
    expect(create?.annotations).toMatchObject({ readOnlyHint: false, destructiveHint: false });
    expect(tools.find(({ name }) => name === 'vm_delete')?.annotations).toMatchObject({ destructiveHint: true });
    // The client refuses a result that its schema does not allow, so each call of these tests checks one.
    expect(create?.outputSchema).toMatchObject({ type: 'object', properties: { identifier: { type: 'integer' } } });
    expect(tools.flatMap(({ name, outputSchema }) => (outputSchema === undefined ? [name] : []))).toEqual(['operator_bookkeeping_export']);
    expect(JSON.stringify(tools.map(({ outputSchema }) => outputSchema))).not.toContain('$ref');
  });
});

describe('twenty tasks', () => {
  test('each task is carried out, and each purchase is confirmed by the user', async () => {
    const { call, questions, tools } = await assistant(['--operator', '--allow-writes', '--budget', '100'], 'yes');
    const known = new Set(tools.map(({ name }) => name));
    const lines: string[] = [];
    let tokens = 0;
    let total = 0;
    /** Tokens are those of the results, at two bytes each, which is the limit that the server keeps. */
    async function task(what: string, steps: () => Promise<void>): Promise<void> {
      tokens = 0;
      await steps();
      total += tokens;
      lines.push(`${String(tokens).padStart(6)} tokens  ${what}`);
    }
    async function ok(name: string, given: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
      expect(known).toContain(name);
      const { ok: isDone, result, text } = await call(name, given);
      expect({ name, problem: isDone ? '' : result }).toEqual({ name, problem: '' });
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(8_000);
      tokens += Math.ceil(Buffer.byteLength(text) / 2);
      return Object(result);
    }
    const items = (result: Record<string, unknown>): Record<string, unknown>[] => Object(result['items'] ?? result['list']);
    let vmid = '';
    const domain = 'twenty-tasks.net';

    await task('Which host systems are in the Netherlands?', async () => {
      const hosts = items(await ok('vm_hosts'));
      expect(hosts.filter((host) => Object(host['datacenter']).country === 'Netherlands')).toMatchObject([{ name: 'nl_ryzen' }]);
    });
    await task('Which operating systems can be installed?', async () => {
      expect(items(await ok('vm_os_images')).length).toBeGreaterThan(3);
    });
    await task('What will this month cost?', async () => {
      expect(Number((await ok('accounting_current_invoice'))['estimatedInvoiceTotal'])).toBeGreaterThan(0);
    });
    await task('How much may I still spend?', async () => {
      expect(await ok('accounting_credit')).toHaveProperty('remaining');
    });
    await task('Buy a small VM, and tell me where its password is.', async () => {
      const { identifier, config, secrets } = await ok('vm_create', VM);
      expect(questions.at(-1)).toMatch(/^Price: 10\.40 EUR net, 12\.38 EUR gross: .*\nCreate a VM\?\ncores: 2\n/);
      expect(Object(config).password).toBe('***');
      expect(secrets).toMatch(/^The user can read them in /);
      vmid = String(identifier);
    });
    await task('Does it run?', async () => {
      expect(await ok('vm_status', { vmid })).toBeDefined();
    });
    await task('Restart it.', async () => {
      await ok('vm_power', { vmid, mode: 'restart' });
    });
    await task('Give it eight GB of memory if that costs less than 20 EUR.', async () => {
      await ok('vm_change', { vmid, mem: 8192, max_price: '20.00' });
      expect(questions.at(-1)).toContain('mem: 8192');
      expect(questions.at(-1)).toContain('Price: 15.20 EUR net');
    });
    await task('Reinstall it with Debian 13.', async () => {
      await ok('vm_reinstall', { vmid, os: 'debian_13' });
      expect(questions.at(-1)).toContain('This cannot be undone.');
    });
    await task('Which dedicated server is the cheapest?', async () => {
      const prices = items(await ok('dedicated_available')).map(({ price }) => Number(Object(price).net));
      expect(Math.min(...prices)).toBe(59);
    });
    await task('Is the domain free, and what does it cost?', async () => {
      expect(await ok('domain_check', { domain })).toMatchObject({ available: true });
      expect(await ok('domain_quote_register', { domain, handle: await demoHandle() })).toMatchObject({ price: { net: 11 } });
    });
    await task('Register it for the contact of my other domain.', async () => {
      const [other] = items(await ok('domain_list'));
      const { handle } = await ok('domain_info', { domain: String(other) });
      await ok('domain_register', { domain, handle: Object(handle).ownerC });
      expect(questions.at(-1)).toContain('Price: 11.00 EUR net, 13.09 EUR gross: the first year of the domain');
    });
    await task('Let its mail go to another server.', async () => {
      await ok('domain_dns_add', { domain, type: 'MX', data: '10 mail.example.com' });
    });
    await task('Which records does it have?', async () => {
      expect(JSON.stringify(await ok('domain_dns_list', { domain }))).toContain('mail.example.com');
    });
    await task('When does it expire?', async () => {
      expect(await ok('domain_info', { domain })).toHaveProperty('timings');
    });
    await task('Cancel it, and take that back.', async () => {
      await ok('domain_delete', { domain });
      await ok('domain_undelete', { domain });
    });
    await task('Why was my last request refused?', async () => {
      expect(await call('domain_register', { domain: 'refused.net', handle: 'NO-SUCH' })).toMatchObject({ ok: false });
      expect(JSON.stringify(items(await ok('account_requests', { limit: 3 })))).toContain('NO-SUCH');
    });
    await task('Which invoices are not paid?', async () => {
      expect(items(await ok('operator_invoices_list', { status: 'OPEN' }))).toHaveLength(1);
    });
    await task('What is the balance of the first customer?', async () => {
      expect(items(await ok('operator_accounts_list'))[0]).toHaveProperty('balance');
    });
    await task('Delete the VM.', async () => {
      await ok('vm_delete', { vmid });
      expect(questions.at(-1)).toMatch(/^This cannot be undone\.\nDelete a VM\?\nvmid: "\d{5}"$/);
    });

    expect(lines).toHaveLength(20);
    process.stdout.write(`${[...lines, `${String(total).padStart(6)} tokens  in all`].join('\n')}\n`);
  });
});

async function demoHandle(): Promise<string> {
  const [domain] = await sandbox.reseller.domain.list();
  const info = await sandbox.reseller.domain.info(String(domain));
  return info.handle.ownerC;
}

describe('purchases', () => {
  const refused = [
    { who: 'a client that cannot ask', answer: undefined, given: ['--budget', '100'], says: 'elicitation' },
    { who: 'a user who says no', answer: 'no' as const, given: ['--budget', '100'], says: 'the user did not confirm' },
    { who: 'a user who closes the question', answer: 'cancel' as const, given: ['--budget', '100'], says: 'the user did not confirm' },
    { who: 'no budget', answer: 'yes' as const, given: [], says: 'The budget is 0.00 EUR' },
    { who: 'a budget that is a cent too small', answer: 'yes' as const, given: ['--budget', '12.37'], says: 'The budget is 12.37 EUR' },
  ];
  test.each(byDepth({ usual: [...refused.slice(0, 2), ...refused.slice(-1)], deep: refused }))(
    'are refused with $who',
    async ({ answer, given, says }) => {
      const { call } = await assistant(['--allow-writes', ...given], answer);
      const before = await countVms();
      expect(await call('vm_create', VM)).toMatchObject({ ok: false, result: expect.stringContaining(says) });
      expect(await countVms()).toBe(before);
    },
  );

  test('share the budget, also when they are called at once', async () => {
    const { call } = await assistant(['--allow-writes', '--budget', '12.38'], 'yes');
    const before = await countVms();
    const [one, other] = await Promise.all([call('vm_create', VM), call('vm_create', { ...VM, disk: 41 })]);
    expect([one.ok, other.ok].toSorted()).toEqual([false, true]);
    expect(await countVms()).toBe(before + 1);
  });

  test('give the budget back when they are refused', async () => {
    const { call } = await assistant(['--allow-writes', '--budget', '12.38'], 'yes');
    expect(await call('vm_create', { ...VM, os: 'no_such_os' })).toMatchObject({ ok: false });
    expect(await call('vm_create', VM)).toMatchObject({ ok: true });
  });

  test('keep what may have been spent when the outcome is unknown', async () => {
    const { call } = await assistant(['--allow-writes', '--budget', '12.38'], 'yes');
    await createFault({ client: sandbox.operator, body: { operations: ['createVm'], effect: { kind: 'cut_after_commit' }, times: 3 } });
    const before = await countVms();
    expect(await call('vm_create', { ...VM, hostname: 'lost' })).toMatchObject({ ok: false });
    expect(await call('vm_create', VM)).toMatchObject({ ok: false, result: expect.stringContaining('of which 12.38 EUR are spent') });
    expect(await countVms()).toBe(before + 1);
  });

  test('buy once when the responses are lost and the model calls the tool again', async () => {
    const { call } = await assistant(['--allow-writes', '--budget', '100'], 'yes');
    const before = await countVms();
    await createFault({ client: sandbox.operator, body: { operations: ['createVm'], effect: { kind: 'cut_after_commit' }, times: 3 } });
    expect(await call('vm_create', VM)).toMatchObject({ ok: false });
    expect(await call('vm_create', VM)).toMatchObject({ ok: true });
    expect(await countVms()).toBe(before + 1);
  });
});

test('refuses input that a tool does not have, and names what is missing', async () => {
  const { call } = await assistant([]);
  expect(await call('vm_config', { vm: '1' })).toMatchObject({ ok: false, result: expect.stringContaining('vm_config has no vm') });
  expect(await call('vm_config')).toMatchObject({ ok: false, result: 'vm_config needs vmid.' });
});

test('returns small amounts as plain decimals', async () => {
  const prices = { create: '0.00000013', renew: '1.00', transfer: '1.00' };
  await setTldPrice({ client: sandbox.operator, path: { tld: 'cheap' }, body: prices });
  const { call } = await assistant([]);
  const { text } = await call('domain_pricings');
  expect(text).toContain('"cheap":{"price_net":{"create":0.00000013,');
});

test('returns what its schema says, also for each list and summary of the sandbox', async () => {
  const { tools, call } = await assistant(['--operator']);
  const free = tools.filter(({ inputSchema }) => (inputSchema.required ?? []).length === 0);
  expect(free.length).toBeGreaterThan(30);
  for (const { name } of free)
    for (const given of [{}, { summary: true }, { limit: 1 }]) {
      const { ok, text } = await call(name, given);
      expect({ name, given, text: ok ? '' : text }).toEqual({ name, given, text: '' });
    }
  expect(await call('operator_bookkeeping_export', { table: 'invoices' })).toMatchObject({ ok: true });
});

test('returns lists in pages', async () => {
  const { call } = await assistant([]);
  const first = await call('domain_handle_countries', { limit: 3 });
  expect(first.result).toMatchObject({ items: { length: 3 }, next_offset: 3 });
  const second = await call('domain_handle_countries', { limit: 3, offset: 3 });
  expect(second.result).toMatchObject({ items: { length: 3 }, next_offset: 6 });
  expect(Object(second.result).items[0]).not.toEqual(Object(first.result).items[0]);
});
