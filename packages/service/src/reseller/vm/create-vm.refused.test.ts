import { expect, test } from 'vitest';

import { SMALL_VM, sharedService, startService } from '../../../test/harness.ts';
import type { TestService } from '../../../test/harness.ts';
import { startOperator } from '../../../test/operator.ts';

const customer = sharedService();

/** The rows that a refused purchase must not change. */
async function footprint({ store }: TestService): Promise<unknown> {
  return store.read(async (db) => ({
    vms: await db.selectFrom('vms').selectAll().execute(),
    positions: await db.selectFrom('positions').selectAll().execute(),
    nodes: await db.selectFrom('host_nodes').selectAll().orderBy('name').execute(),
    taken: await db.selectFrom('ip_addresses').selectAll().where('vm_id', 'is not', null).execute(),
    accounts: await db.selectFrom('accounts').selectAll().orderBy('id').execute(),
    reservations: await db.selectFrom('reservations').selectAll().execute(),
    keys: await db.selectFrom('idempotency_keys').selectAll().execute(),
  }));
}

test.each([
  ['no cores', { cores: undefined }, 'cores', 'required'],
  ['cores that are a word', { cores: 'two' }, 'cores', 'type'],
  ['no cores at all', { cores: 0 }, 'cores', 'minimum'],
  ['half a core', { cores: 1.5 }, 'cores', 'type'],
  ['more cores than the host offers', { cores: 17 }, 'cores', 'maximum'],
  ['memory off the step', { mem: 4097 }, 'mem', 'multipleOf'],
  ['a huge disk', { disk: '9007199254740993' }, 'disk', 'type'],
  ['a negative disk', { disk: -5 }, 'disk', 'minimum'],
  ['an unknown system', { os: 'plan_9' }, 'os', 'exists'],
  ['an unknown host system', { hostsystem: 'nl_abacus' }, 'hostsystem', 'exists'],
  ['too many addresses', { ips: 9 }, 'ips', 'maximum'],
  ['negative backup slots', { backup_slots: -1 }, 'backup_slots', 'minimum'],
  ['more than 1 Gbit in Frankfurt', { hostsystem: 'de_epyc', network_speed: 2000 }, 'network_speed', 'maximum'],
  ['more than 5 Gbit in the Netherlands', { network_speed: 5100 }, 'network_speed', 'maximum'],
  ['a hostname with a blank', { hostname: 'my server' }, 'hostname', 'pattern'],
  ['a hostname that is an address', { hostname: '1.2.3.4' }, 'hostname', 'pattern'],
  ['a hostname with an underscore', { hostname: 'my_host' }, 'hostname', 'pattern'],
  ['a hostname with a closing dot', { hostname: 'KVM.' }, 'hostname', 'pattern'],
  ['a hostname that ends in a number', { hostname: 'web.0x1' }, 'hostname', 'pattern'],
  ['a label of 64 characters', { hostname: 'a'.repeat(64) }, 'hostname', 'pattern'],
  ['a speed between two steps', { network_speed: 777 }, 'network_speed', 'multipleOf'],
  ['HDD storage in the Netherlands', { storage: 100 }, 'storage', 'unavailable'],
  ['a key that is none', { ssh_key: 'ssh-rsa hello' }, 'ssh_key', 'pattern'],
  ['a key that was cut off', { ssh_key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA ops' }, 'ssh_key', 'ssh_key'],
  ['a boolean that is a number', { allowFallbackIPs: '1' }, 'allowFallbackIPs', 'type'],
  ['a pointer that is not fully qualified', { default_ptr: 'localhost' }, 'default_ptr', 'pattern'],
  ['a pointer that is an address', { default_ptr: '198.51.100.23' }, 'default_ptr', 'pattern'],
  ['a field nobody knows', { gpu: 1 }, 'gpu', 'unknown'],
  ['the name of a prototype', { ['__proto__']: 1, constructor: 2 }, 'constructor', 'unknown'],
])('%s: responds with 422 that names the field and the rule, and changes nothing', async (_, wrong, field, rule) => {
  const service = await customer();
  const before = await footprint(service);
  const { status, body } = await service.call('createVm', { form: { ...SMALL_VM, ...wrong }, idempotencyKey: 'one' });
  expect(status).toBe(422);
  expect(body.type).toBe('validation_failed');
  expect(body.data.fields).toContainEqual({ field, rule, message: expect.stringMatching(/\w/) });
  expect(await footprint(service)).toEqual(before);
  const log = await service.call('listRequests');
  expect(log.body.data[0]).toMatchObject({ success: 0, error_type: 'validation_failed', method: 'PUT', endpoint: '/vm/create' });
});

test('refuses an unknown operating system or host system, and lists the valid ones', async () => {
  const service = await customer();
  const { body } = await service.call('createVm', { form: { ...SMALL_VM, os: 'plan_9', hostsystem: 'nl_abacus' } });
  const messages = Object.fromEntries(body.data.fields.map(({ field, message }: { field: string; message: string }) => [field, message]));
  const { hosts, images } = await service.store.read(async (db) => ({
    hosts: await db.selectFrom('host_systems').select('name').execute(),
    images: await db.selectFrom('os_images').select('name').execute(),
  }));
  for (const { name } of hosts) expect(messages['hostsystem']).toContain(name);
  for (const { name } of images) expect(messages['os']).toContain(name);
});

test('responds with 402 beyond the credit limit, and changes nothing', async () => {
  const service = await startService({ creditLimit: '5.00' });
  const before = await footprint(service);
  // 1,771,003 s remain of November: 10.40 x 1,771,003 / 2,592,000 = 7.11 EUR.
  const { status, body } = await service.call('createVm', { form: SMALL_VM });
  expect(status).toBe(402);
  expect(body.type).toBe('credit_limit_exceeded');
  expect(body.message).toContain('needs 7.11 EUR of the credit limit, and 5.00 EUR remain');
  expect(await footprint(service)).toEqual(before);
});

test('accepts exactly as many concurrent purchases as the credit limit allows', async () => {
  // Each holds 7.10587624 EUR.
  const service = await startService({ creditLimit: '50.00' });
  const responses = await Promise.all(Array.from({ length: 20 }, () => service.call('createVm', { form: SMALL_VM })));
  expect(responses.map(({ status }) => status).toSorted()).toEqual([...Array<number>(7).fill(200), ...Array<number>(13).fill(402)]);
});

test('responds with 409 if the host system is full, and changes nothing', async () => {
  const service = await startService();
  await service.store.commit(({ db }) =>
    db.updateTable('host_nodes').set({ used_cores: 2047 }).where('hostsystem', '=', 'nl_ryzen').execute(),
  );
  const before = await footprint(service);
  const { status, body } = await service.call('createVm', { form: SMALL_VM });
  expect(status).toBe(409);
  expect(body.type).toBe('out_of_capacity');
  expect(await footprint(service)).toEqual(before);
});

test('responds with 409 if no addresses are free, and changes nothing', async () => {
  const service = await startService();
  await service.store.commit(async ({ db }) => {
    await db.deleteFrom('ip_addresses').where('pool_id', '=', 'ams1-v4').where('position', '>', 0).execute();
  });
  const before = await footprint(service);
  const { status, body } = await service.call('createVm', { form: { ...SMALL_VM, ips: 2 } });
  expect(status).toBe(409);
  expect(body.type).toBe('out_of_capacity');
  expect(await footprint(service)).toEqual(before);
});

test('responds with 402 if credit, room and addresses are all missing', async () => {
  const service = await startService({ creditLimit: '5.00' });
  await service.store.commit(async ({ db }) => {
    await db.updateTable('host_nodes').set({ used_cores: 2047 }).execute();
    await db.deleteFrom('ip_addresses').execute();
  });
  expect(await service.call('createVm', { form: SMALL_VM })).toMatchObject({ status: 402, body: { type: 'credit_limit_exceeded' } });
});

test('responds with 503 if the hypervisor fails, and undoes the purchase on both sides', async () => {
  const service = await startService();
  const before = await footprint(service);
  service.hypervisor.failing = new Error('no route to the node');
  const { status, body } = await service.call('createVm', { form: SMALL_VM, idempotencyKey: 'one' });
  expect(status).toBe(503);
  expect(JSON.stringify(body)).not.toContain('route');
  expect(await footprint(service)).toEqual(before);
  expect(service.hypervisor.vms.size).toBe(0);
  service.hypervisor.failing = undefined;
  expect(await service.call('createVm', { form: SMALL_VM, idempotencyKey: 'one' })).toMatchObject({ status: 200 });
});

test('names IPv6 networks as missing at a location without them', async () => {
  const service = await startService();
  await service.store.commit(({ db }) => db.deleteFrom('ip_addresses').where('family', '=', 6).where('vm_id', 'is', null).execute());
  const { status, body } = await service.call('createVm', { form: SMALL_VM });
  expect([status, body.type]).toEqual([409, 'out_of_capacity']);
  expect(body.message).toMatch(/^The data centre AMS1 has no free IPv6 network\./);
});

test('says that the catalogue is empty, instead of listing nothing', async () => {
  const service = await startOperator();
  await service.store.commit(async ({ db }) => {
    const tables = [
      'positions',
      'ip_addresses',
      'vms',
      'sale_prices',
      'host_nodes',
      'host_system_prices',
      'os_images',
      'host_systems',
    ] as const;
    for (const table of tables) await db.deleteFrom(table).execute();
  });
  // The next change of the catalogue drops what the service has cached.
  await service.operate('/tld-prices/net', {
    method: 'PUT',
    body: JSON.stringify({ create: '9.00', renew: '9.00', transfer: '9.00' }),
    headers: { 'content-type': 'application/json' },
  });
  const { status, body } = await service.call('createVm', { form: SMALL_VM });
  expect(status).toBe(422);
  expect(body.data.fields).toEqual([
    { field: 'hostsystem', rule: 'exists', message: 'cannot be chosen, because the provider has not set up a host system yet' },
    { field: 'os', rule: 'exists', message: 'cannot be chosen, because the provider has not set up an operating system yet' },
  ]);
});
