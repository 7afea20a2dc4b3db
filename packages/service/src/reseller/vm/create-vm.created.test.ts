import { expect, test } from 'vitest';

import { tablesWith } from '../../../test/contents.ts';
import { SMALL_VM, startService } from '../../../test/harness.ts';

test('uses the defaults of the document for a VM with only the required fields', async () => {
  const service = await startService();
  const { status, body } = await service.call('createVm', { form: SMALL_VM });
  expect(status).toBe(200);
  expect(body.data.identifier).toBeGreaterThanOrEqual(10_000);
  expect(body.data.identifier).toBeLessThanOrEqual(99_999);
  expect(body.data.hostsystem).toMatchObject({
    datacenter: { name: 'AMS1', country: 'Netherlands', city: 'Amsterdam' },
    node: 'nl-ryzen-01',
  });
  expect(body.data.config).toMatchObject({
    cores: 2,
    mem: 4096,
    disk: 40,
    os: { name: 'debian_12', displayname: 'Debian 12' },
    username: 'root',
    hostname: 'KVM',
    network_speed: '1000',
    backup_slots: '2',
    ipv4: [{ address: '100.64.0.2', gateway: '100.64.0.1', ddos_protection: 'Arbor' }],
    ipv6: [{ ip_address: '2001:db8:4100:1::/64', ip_gateway: '2001:db8:4100::1' }],
  });
  expect(body.data.config.password).toMatch(/^[A-Za-z0-9]{20}$/);
  expect(body.data.pricings).toEqual({ monthly: 10.4, monthly_gross: 12.38 });
});

test.each([
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKaaMCw3aUD1cvh8ZK64B4hxO+e8hg00vDlYAFFX8hJS me@host',
  'sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29tAAAAIKaaMCw3aUD1cvh8ZK64B4hxO+e8hg00vDlYAFFX8hJSAAAABHNzaDo= security key',
])('applies every field of the form, with the SSH key %s', async (key) => {
  const service = await startService();
  const { status, body } = await service.call('createVm', {
    form: {
      cores: 4,
      mem: 8192,
      disk: 80,
      os: 'ubuntu_24_04',
      hostsystem: 'de_epyc',
      ips: 3,
      backup_slots: 4,
      network_speed: 500,
      hostname: 'web1.reseller-customer.net',
      storage: 500,
      ssh_key: encodeURIComponent(key),
      ssh_key_displayname: 'ops laptop',
      allowFallbackIPs: true,
      default_ptr: 'web1.reseller-customer.net',
    },
  });
  expect(status).toBe(200);
  expect(body.data.hostsystem.datacenter.city).toBe('Frankfurt am Main');
  expect(body.data.config).toMatchObject({
    os: { name: 'ubuntu_24_04' },
    hostname: 'web1.reseller-customer.net',
    network_speed: '500',
    backup_slots: '4',
  });
  expect(body.data.config.ipv4).toHaveLength(3);
  // 4 x 1.50 + 8 x 1.00 + 80 x 0.03 + 500 x 0.008 + 2 x 1.50 + 2 x 0.50
  expect(body.data.pricings.monthly).toBe(24.4);
  const order = service.hypervisor.vms.get(body.data.identifier);
  expect(order).toMatchObject({ os: 'ubuntu_24_04', hostname: 'web1.reseller-customer.net', password: body.data.config.password });
  expect(order?.sshKey).toContain(key.split(' ')[1]);
  const stored = await service.store.read((db) =>
    db.selectFrom('vms').selectAll().where('id', '=', body.data.identifier).executeTakeFirstOrThrow(),
  );
  expect(stored).toMatchObject({
    state: 'running',
    storage: 500,
    default_ptr: 'web1.reseller-customer.net',
    ssh_key_displayname: 'ops laptop',
  });
});

test('accepts the display name of a key without the key, and does not use it', async () => {
  const service = await startService();
  const { status, body } = await service.call('createVm', { form: { ...SMALL_VM, ssh_key_displayname: 'laptop' } });
  expect(status).toBe(200);
  const stored = await service.store.read((db) =>
    db.selectFrom('vms').selectAll().where('id', '=', body.data.identifier).executeTakeFirstOrThrow(),
  );
  expect(stored).toMatchObject({ ssh_key: null, ssh_key_displayname: null });
});

test('assigns no address twice', async () => {
  const service = await startService();
  const { apiKey } = await service.account();
  const responses = await Promise.all(
    Array.from({ length: 12 }, (_, index) => service.call('createVm', { form: { ...SMALL_VM, ips: 2 }, ...(index % 2 ? { apiKey } : {}) })),
  );
  const addresses = responses.flatMap(({ body }) => body.data.config.ipv4.map(({ address }: { address: string }) => address));
  const networks = responses.map(({ body }) => body.data.config.ipv6[0].ip_address);
  expect(new Set(addresses).size).toBe(24);
  expect(new Set(networks).size).toBe(12);
  expect(new Set(responses.map(({ body }) => body.data.identifier)).size).toBe(12);
});

test('uses own subnets first, and those of the provider only if the form allows it', async () => {
  const service = await startService();
  const { id, apiKey } = await service.account();
  await service.store.commit(async ({ db }) => {
    const { addIpPool } = await import('../../core/catalogue/ip-pool.ts');
    await addIpPool(db, { id: 'own-v4', datacenter: 'AMS1', accountId: id, cidr: '100.127.0.0/30', ddosProtection: 'none' });
    await addIpPool(db, { id: 'own-v6', datacenter: 'AMS1', accountId: id, cidr: '2001:db8:ffff:fff8::/61', ddosProtection: 'none' });
  });
  const own = await service.call('createVm', { form: SMALL_VM, apiKey });
  expect(own.body.data.config.ipv4[0].address).toBe('100.127.0.2');
  expect(own.body.data.config.ipv6[0].ip_address).toBe('2001:db8:ffff:fff9::/64');
  const refused = await service.call('createVm', { form: SMALL_VM, apiKey });
  expect(refused).toMatchObject({ status: 409, body: { type: 'out_of_capacity' } });
  const fallback = await service.call('createVm', { form: { ...SMALL_VM, allowFallbackIPs: true }, apiKey });
  expect(fallback.body.data.config.ipv4[0].address).toBe('100.64.0.2');
  const stranger = await service.call('createVm', { form: SMALL_VM });
  expect(stranger.body.data.config.ipv4[0].address).toBe('100.64.0.3');
});

test('returns the password only in the response', async () => {
  const service = await startService();
  const { body } = await service.call('createVm', { form: SMALL_VM, idempotencyKey: 'one' });
  const log = await service.call('listRequests');
  expect(JSON.parse(log.body.data[0].response_body).data.config.password).toBe('***');
  expect(await tablesWith(service.store, body.data.config.password)).toEqual([]);
});
