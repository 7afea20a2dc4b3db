import { describe, expect, test } from 'vitest';

import { engines } from '../../../test/engines.ts';
import { SMALL_VM, sharedService, startService } from '../../../test/harness.ts';
import type { TestService } from '../../../test/harness.ts';

const customer = sharedService();

async function buy(service: TestService, more: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const { status, body } = await service.call('createVm', { form: { ...SMALL_VM, ...more } });
  expect(status, `${body.message}`).toBe(200);
  return String(body.data.identifier);
}

const edit = (service: TestService, vmid: string, form: Readonly<Record<string, string>>, apiKey?: string) =>
  service.call('editVm', { path: { vmid }, form, ...(apiKey !== undefined && { apiKey }) });

async function shown(service: TestService, vmid: string) {
  const { name, hostname, labels } = (await service.call('getVmConfig', { path: { vmid } })).body.data.config;
  const { list } = (await service.call('listVms')).body.data;
  const item = list.find((one: { vmid: number }) => String(one.vmid) === vmid);
  expect({ name: item.name, hostname: item.hostname, labels: item.labels }).toEqual({ name, hostname, labels });
  return { name, hostname, labels };
}

test.each(engines)('a purchase sets the name and labels, and an edit changes only what it names, on %s', async (engine) => {
  const service = await startService({ engine });
  const vmid = await buy(service, { hostname: 'web1', name: 'Shop', labels: 'team=web,env=' });
  expect(await shown(service, vmid)).toEqual({ name: 'Shop', hostname: 'web1', labels: { env: '', team: 'web' } });
  expect((await edit(service, vmid, { hostname: 'web2.reseller-customer.net' })).body.data).toEqual({
    name: 'Shop',
    hostname: 'web2.reseller-customer.net',
    labels: { env: '', team: 'web' },
  });
  await edit(service, vmid, { labels: 'env=production' });
  await edit(service, vmid, { name: 'Shop of Weidenfels & Söhne' });
  expect(await shown(service, vmid)).toEqual({
    name: 'Shop of Weidenfels & Söhne',
    hostname: 'web2.reseller-customer.net',
    labels: { env: 'production' },
  });
  await edit(service, vmid, { labels: '' });
  expect((await shown(service, vmid)).labels).toEqual({});
});

test('the hostname is the name until the VM gets one, and a form without fields changes nothing', async () => {
  const service = await customer();
  const vmid = await buy(service, { hostname: 'db1' });
  expect(await shown(service, vmid)).toEqual({ name: 'db1', hostname: 'db1', labels: {} });
  await edit(service, vmid, { hostname: 'db2' });
  expect((await edit(service, vmid, {})).body.data).toEqual({ name: 'db2', hostname: 'db2', labels: {} });
});

test('an edit changes neither the price nor the positions', async () => {
  const service = await customer();
  const vmid = await buy(service, { hostname: 'web1' });
  const before = (await service.call('getCurrentInvoice')).body.data.positions;
  await edit(service, vmid, { hostname: 'web2', name: 'Shop', labels: 'a=b' });
  expect((await service.call('getCurrentInvoice')).body.data.positions).toEqual(before);
});

test('a stopped VM can be edited, and a deleted VM or one of another account cannot', async () => {
  const service = await customer();
  const vmid = await buy(service);
  await service.call('setVmPower', { path: { vmid }, form: { mode: 'stop' } });
  expect((await edit(service, vmid, { name: 'Resting' })).status).toBe(200);
  const other = await service.account();
  expect((await edit(service, vmid, { name: 'Mine' }, other.apiKey)).status).toBe(404);
  await service.call('deleteVm', { path: { vmid } });
  expect((await edit(service, vmid, { name: 'Gone' })).status).toBe(404);
});

describe('labels', () => {
  const [key, long] = ['k'.repeat(63), 'k'.repeat(64)];
  test.each([
    ['a=b', { a: 'b' }],
    ['a=', { a: '' }],
    ['a.b_c-d=1.2_3-4', { 'a.b_c-d': '1.2_3-4' }],
    [`${key}=${key}`, { [key]: key }],
    ['__proto__x=1,constructor=2', undefined],
    ['constructor=2,toString=', { constructor: '2', toString: '' }],
    [`${long}=a`, undefined],
    [`a=${long}`, undefined],
    ['a', undefined],
    ['=b', undefined],
    ['a=b,', undefined],
    ['a=b=c', undefined],
    ['a =b', undefined],
    ['-a=b', undefined],
    ['a=b-', undefined],
    ['ä=b', undefined],
    ['a=1,b=2,a=1', undefined],
  ])('%s: %j', async (text, labels) => {
    const service = await customer();
    const vmid = await buy(service);
    const { status, body } = await edit(service, vmid, { labels: text });
    expect([status, status === 200 ? body.data.labels : body.data.fields[0].field]).toEqual(
      labels === undefined ? [422, 'labels'] : [200, labels],
    );
    const purchase = await service.call('createVm', { form: { ...SMALL_VM, labels: text } });
    expect(purchase.status).toBe(status);
  });

  test('are at most 2,048 characters in all', async () => {
    const service = await customer();
    const vmid = await buy(service);
    // 31 pairs of 63 characters and their commas, and a last pair for the rest.
    const first = Array.from({ length: 31 }, (_, number) => `k${10 + number}=${'v'.repeat(59)}`).join(',');
    const textOf = (length: number) => `${first},z=${'v'.repeat(length - first.length - 3)}`;
    for (const [length, status] of [
      [2_047, 200],
      [2_048, 200],
      [2_049, 422],
    ] as const) {
      expect(textOf(length)).toHaveLength(length);
      expect((await edit(service, vmid, { labels: textOf(length) })).status).toBe(status);
    }
  });
});

describe('a search', () => {
  test.each([
    ['env=production', ['web', 'db']],
    ['env!=production', ['test', 'plain']],
    ['env', ['web', 'db', 'test']],
    ['!env', ['plain']],
    ['env=production,role=web', ['web']],
    ['env,role!=web', ['db', 'test']],
    ['old=', ['test']],
    ['old!=', ['web', 'db', 'plain']],
    ['!old,env', ['web', 'db']],
    ['constructor', []],
  ])('for %s finds %j, with their sums', async (labels, names) => {
    const service = await customer();
    for (const [hostname, text] of [
      ['web', 'env=production,role=web'],
      ['db', 'env=production'],
      ['test', 'env=test,old='],
      ['plain', ''],
    ]) {
      await buy(service, { hostname, labels: text });
      service.clock.advance(1);
    }
    const { status, body } = await service.call('searchVms', { form: { labels } });
    expect(status).toBe(200);
    expect(body.data.list.map(({ hostname }: { hostname: string }) => hostname)).toEqual(names);
    expect([body.data.total_vms, body.data.total_stats.cores]).toEqual([names.length, 2 * names.length]);
  });

  test('finds nothing of another account', async () => {
    const service = await customer();
    await buy(service, { labels: 'env=production' });
    const { apiKey } = await service.account();
    expect((await service.call('searchVms', { form: { labels: 'env' }, apiKey })).body.data.list).toEqual([]);
  });

  test.each(['', ',', 'a,', '!', '!a=b', 'a==b', 'a=!b', 'a b'])('refuses %j', async (labels) => {
    const service = await customer();
    expect((await service.call('searchVms', { form: { labels } })).status).toBe(422);
  });
});
