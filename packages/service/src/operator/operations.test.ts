import * as operator from '@reseller/operator-client';
import { expect, test, vi } from 'vitest';

import { deployedServer, EPYC, marketItem, orderServer, RYZEN, XEON } from '../../test/dedicated.ts';
import { register } from '../../test/domains.ts';
import { SMALL_VM } from '../../test/harness.ts';
import { refusalOf, startOperator } from '../../test/operator.ts';

test('issues API keys, rotates them with an overlap, limits and revokes them', async () => {
  const service = await startOperator();
  const { client, clock } = service;
  const account = await operator.createAccount({ client, body: { name: 'Shop', credit_limit: '10.50' } });
  expect(account).toMatchObject({ credit_limit: '10.50', unpaid: '0.00', isolated: false });
  const path = { account_id: account.id };
  expect(await operator.setCreditLimit({ client, path, body: { credit_limit: '20' } })).toMatchObject({ credit_limit: '20.00' });
  expect(await operator.getAccount({ client, path })).toMatchObject({ credit_limit: '20.00' });
  const first = await operator.issueApiKey({ client, path, body: { label: 'first' } });
  const key = { api_key_id: first.id };
  await operator.setApiKeyRateLimit({ client, path: key, body: { rate_limit: { requests: 1, seconds: 60 } } });
  // Keys are listed in the order of their issue by the clock.
  clock.advance(1);
  const { issued, replaced } = await operator.rotateApiKey({ client, path: key, body: { overlap_seconds: 60 } });
  expect(issued.rate_limit).toEqual({ requests: 1, seconds: 60 });
  expect(replaced.valid_until).toBe(new Date(clock.now() + 60_000).toISOString());
  expect(await refusalOf(operator.rotateApiKey({ client, path: key, body: {} }))).toMatchObject({ status: 409 });
  const ask = (apiKey: string) => service.call('listDomains', { apiKey });
  expect((await ask(first.key)).status).toBe(200);
  expect((await ask(issued.key)).status).toBe(200);
  const limited = await ask(issued.key);
  expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '60']);
  clock.advance(61_000);
  expect((await ask(first.key)).status).toBe(401);
  await operator.revokeApiKey({ client, path: { api_key_id: issued.id } });
  await vi.waitFor(async () => expect((await ask(issued.key)).status).toBe(401), { timeout: 300_000 });
  const { items } = await operator.listApiKeys({ client, path });
  expect(items.map(({ revoked }) => revoked === null)).toEqual([true, false]);
  const ofNoAccount = { account_id: '0192f7b4-2b3c-7d4e-9f50-6b7c8d9e0f1a' };
  expect(await refusalOf(operator.issueApiKey({ client, path: ofNoAccount, body: { label: 'x' } }))).toMatchObject({ status: 404 });
});

test('refuses the keys of a sandbox in a live service, with the reason', async () => {
  const live = await startOperator({ mode: 'live' });
  expect(live.apiKey).toMatch(/^rsk_live_/);
  expect((await live.call('listDomains')).status).toBe(200);
  const refused = await live.call('listDomains', { apiKey: live.apiKey.replace('live', 'sandbox') });
  expect(refused).toMatchObject({ status: 401, body: { message: expect.stringContaining('a sandbox') } });
});

test('defines host systems, images and pools, and refuses to remove those in use', async () => {
  const service = await startOperator();
  const { client } = service;
  const path = { hostsystem: 'nl_ryzen' };
  const { name: _, nodes, ...host } = await operator.getHostSystem({ client, path });
  const bare = nodes.map(({ name, cores, mem, disk, storage }) => ({ name, cores, mem, disk, storage }));
  await service.call('createVm', { form: SMALL_VM });
  const defined = (changed: Partial<operator.DefineHostSystemRequest>) =>
    operator.defineHostSystem({ client, path, body: { ...host, nodes: bare, ...changed } });
  expect((await defined({ nodes: bare.slice(0, 2) })).nodes).toHaveLength(2);
  expect(await refusalOf(defined({ nodes: bare.slice(1) }))).toMatchObject({ status: 409, type: expect.stringMatching(/in-use$/) });
  expect(await refusalOf(defined({ nodes: [{ ...bare[0], name: 'nl-ryzen-01', cores: 1, mem: 1, disk: 1, storage: 0 }] }))).toMatchObject({
    status: 409,
  });
  expect(await refusalOf(defined({ ranges: { ...host.ranges, cores: { min: 4, max: 1, step: 1 } } }))).toMatchObject({
    fields: [{ field: '#/ranges/cores/max' }],
  });
  expect((await operator.listHostSystems({ client })).items.map(({ name }) => name)).toEqual(['de_epyc', 'de_xeon', 'nl_ryzen']);
  await operator.defineOsImage({ client, path: { os: 'plan_9' }, body: { displayname: 'Plan 9', username: 'glenda' } });
  expect((await operator.listOsImages({ client })).items).toContainEqual({
    name: 'plan_9',
    displayname: 'Plan 9',
    username: 'glenda',
    platform: 'linux',
    min_disk: 1,
  });
  const pool = { datacenter: 'AMS1', cidr: '203.0.113.0/29', ddos_protection: 'none' };
  const define = (id: string, body: operator.DefineIpPoolRequest) => operator.defineIpPool({ client, path: { ip_pool_id: id }, body });
  expect(await define('spare', pool)).toMatchObject({ total: 5, used: 0, gateway: '203.0.113.1', family: 4 });
  expect(await define('spare', { ...pool, ddos_protection: 'Arbor' })).toMatchObject({ ddos_protection: 'Arbor' });
  expect(await refusalOf(define('other', { ...pool, cidr: '203.0.113.4/30' }))).toMatchObject({ status: 409 });
  expect(await refusalOf(define('other', { ...pool, cidr: '203.0.114.0/31' }))).toMatchObject({ status: 422 });
  expect((await operator.listIpPools({ client })).items).toHaveLength(5);
});

test('shows the name and the labels of a VM as its reseller chose them', async () => {
  const service = await startOperator();
  const { client } = service;
  const { identifier } = (await service.call('createVm', { form: { ...SMALL_VM, hostname: 'web1' } })).body.data;
  const path = { vm_id: String(identifier) };
  expect(await operator.getVm({ client, path })).toMatchObject({ name: 'web1', labels: {} });
  await service.call('editVm', { path: { vmid: path.vm_id }, form: { name: 'Shop', labels: 'team=web,env=production' } });
  const edited = { hostname: 'web1', name: 'Shop', labels: { env: 'production', team: 'web' } };
  expect(await operator.getVm({ client, path })).toMatchObject(edited);
  expect((await operator.listVms({ client })).items).toMatchObject([edited]);
});

test('stops, starts, resizes, restarts and removes VMs, and changes nothing on repeated calls', async () => {
  const service = await startOperator();
  const { client, clock } = service;
  const { identifier } = (await service.call('createVm', { form: SMALL_VM })).body.data;
  const path = { vm_id: String(identifier) };
  expect(await operator.getVm({ client, path })).toMatchObject({
    state: 'running',
    monthly_price: '10.40',
    ipv4: [expect.stringMatching(/^[\d.]+$/)],
    ipv6: [expect.stringMatching(/::\/64$/)],
  });
  clock.advance(1_000);
  for (let n = 0; n < 2; n++) expect(await operator.stopVm({ client, path })).toMatchObject({ state: 'stopped' });
  expect(await refusalOf(operator.restartVmBilling({ client, path }))).toMatchObject({ status: 409 });
  for (let n = 0; n < 2; n++) expect(await operator.startVm({ client, path })).toMatchObject({ state: 'running' });
  clock.advance(1_000);
  expect(await operator.restartVmBilling({ client, path })).toMatchObject({ monthly_price: '10.40' });
  clock.advance(1_000);
  const quoted = await operator.quoteResizeVm({ client, path, body: { cores: 4 } });
  expect(quoted).toMatchObject({ price: { net: '14.40', gross: '17.14' }, ended_sale: null, period_end: '2026-12-01T00:00:00.000Z' });
  expect((await service.call('quoteChangeVm', { path: { vmid: path.vm_id }, form: { cores: 4 } })).body.data).toMatchObject({
    price: { net: 14.4, gross: 17.14 },
    untilPeriodEnd: { net: Number(quoted.until_period_end.net), gross: Number(quoted.until_period_end.gross) },
    neededCredit: Number(quoted.needed_credit),
  });
  expect(await operator.resizeVm({ client, path, body: { cores: 4 } })).toMatchObject({ cores: 4, monthly_price: '14.40' });
  for (const call of [operator.resizeVm, operator.quoteResizeVm])
    expect(await refusalOf(call({ client, path, body: { disk: 10 } }))).toMatchObject({ fields: [{ field: '#/disk' }] });
  await service.store.commit(({ db }) =>
    db
      .updateTable('host_nodes')
      .set(({ ref }) => ({ cores: ref('used_cores') }))
      .execute(),
  );
  expect(await refusalOf(operator.resizeVm({ client, path, body: { cores: 5 } }))).toMatchObject({
    status: 409,
    type: expect.stringMatching(/out-of-capacity$/),
  });
  const positions = (await service.call('getCurrentInvoice')).body.data.positions.vms[path.vm_id];
  expect(positions.map(({ type }: { type: string }) => type)).toEqual(['CREATE', 'BILLINGRESTART', 'BILLINGRESTART', 'UP-DOWNGRADE']);
  for (let n = 0; n < 2; n++) expect(await operator.removeVm({ client, path })).toMatchObject({ state: 'removed', ipv4: [] });
  expect(await refusalOf(operator.startVm({ client, path }))).toMatchObject({ status: 409 });
  expect(await refusalOf(operator.quoteResizeVm({ client, path, body: { cores: 8 } }))).toMatchObject({
    status: 409,
    message: expect.stringContaining('is removed. Only a running or stopped VM can be resized.'),
  });
  expect(await refusalOf(operator.getVm({ client, path: { vm_id: '10000' } }))).toMatchObject({ status: 404 });
  expect((await operator.listVms({ client, query: { state: 'removed' } })).items).toHaveLength(1);
});

test('schedules sales, ends them by hand, and refuses unknown host systems', async () => {
  const { client, clock } = await startOperator();
  // Sales are listed newest first, together with the seeded sales of the sandbox.
  clock.advance(1);
  const start_date = new Date(clock.now() + 1_000).toISOString();
  const body = { title: 'Spring', start_date, upgradable: true, max_volume: 3, pricings: { nl_ryzen: { core: '1.00' } } };
  const sale = await operator.createSale({ client, body });
  expect(sale).toMatchObject({ state: 'scheduled', used_volume: 0, pricings: { nl_ryzen: { core: '1.00' } }, ended: null });
  /** The states in whose lists the sale is. */
  async function listedIn(): Promise<string[]> {
    const states = ['scheduled', 'active', 'ended'] as const;
    const lists = await Promise.all(states.map((state) => operator.listSales({ client, query: { state } })));
    return states.filter((_, index) => lists[index]?.items.some(({ id }) => id === sale.id));
  }
  clock.advance(999);
  expect(await listedIn()).toEqual(['scheduled']);
  clock.advance(1);
  expect(await listedIn()).toEqual(['active']);
  expect((await operator.listSales({ client, query: { state: 'active' } })).items[0]?.id).toBe(sale.id);
  for (let n = 0; n < 2; n++) {
    expect(await operator.endSale({ client, path: { sale_id: sale.id } })).toMatchObject({
      state: 'ended',
      ended: expect.any(String),
    });
  }
  expect(await listedIn()).toEqual(['ended']);
  const unknown = { ...body, pricings: { mars: { core: '1.00' } } };
  expect(await refusalOf(operator.createSale({ client, body: unknown }))).toMatchObject({
    status: 422,
    fields: [{ field: '#/pricings/mars' }],
  });
});

test('offers a dedicated server to one account, sells it once, and completes its set-up by hand', async () => {
  const service = await startOperator();
  const { client } = service;
  const { id, apiKey } = await service.account();
  service.clock.advance(1);
  const offer = await operator.addMarketItem({
    client,
    body: { ...marketItem('50'), ipv4_addresses: 1, account_id: id },
  });
  expect(offer).toMatchObject({ account_id: id, price: '50.00', ipv6_networks: null });
  expect((await operator.listMarketItems({ client })).items[0]?.id).toBe(offer.id);
  const market = async (key: string) => (await service.call('listDedicatedMarket', { apiKey: key })).body.data.list.length;
  expect([await market(apiKey), await market(service.apiKey)]).toEqual([5, 4]);
  const other = await service.account('1.00');
  const order = (account_id: string, market_id = offer.id) => operator.orderDedicatedServer({ client, body: { account_id, market_id } });
  expect(await refusalOf(order(other.id))).toMatchObject({ fields: [{ field: '#/market_id' }] });
  const shared = (await operator.listMarketItems({ client })).items.find(({ account_id }) => account_id === null);
  expect(await refusalOf(order(other.id, shared?.id))).toMatchObject({
    status: 409,
    type: expect.stringMatching(/credit-limit-exceeded$/),
  });
  expect(await order(id)).toMatchObject({ deployed: false, renew: null, ipv4: [] });
  expect(await refusalOf(order(id))).toMatchObject({ status: 409 });
  const management = { dashboard: 'https://x.invalid/', username: 'u', email: 'u@x.invalid', password: 'p' };
  const ipv4 = [{ address: '192.0.2.7', gateway: '192.0.2.1' }];
  const complete = () => operator.completeDedicatedSetup({ client, path: { server_id: offer.id }, body: { management, ipv4 } });
  expect(await complete()).toMatchObject({ deployed: true, ipv4, renew: expect.any(String) });
  expect(await refusalOf(complete())).toMatchObject({ status: 409 });
  const { items: deployed } = await operator.listDedicatedServers({ client, query: { deployed: true } });
  expect(deployed).toEqual([await operator.getDedicatedServer({ client, path: { server_id: offer.id } })]);
  expect(await refusalOf(operator.getDedicatedServer({ client, path: { server_id: shared?.id ?? '' } }))).toMatchObject({ status: 404 });
});

test('returns the account of a code to a third party once, and allows five wrong codes', async () => {
  const service = await startOperator();
  const { client, clock } = service;
  const { token, id } = await operator.registerVerifier({ client, body: { name: 'Panel' } });
  const theirs = service.clientWith(token);
  const { otp_code: code } = (await service.call('generateOtp')).body.data;
  const verify = (body: { code: string }) => operator.verifyOtp({ client: theirs, body });
  expect(await verify({ code })).toMatchObject({ account_name: 'test' });
  expect(await refusalOf(verify({ code }))).toMatchObject({ status: 404 });
  const guesses = await Promise.all(Array.from({ length: 10 }, () => refusalOf(verify({ code: '00000000' }))));
  expect(guesses.filter(({ status }) => status === 404)).toHaveLength(5);
  expect(await refusalOf(verify({ code }))).toMatchObject({ status: 429, retryAfter: 600 });
  clock.advance(600_000);
  expect(await refusalOf(verify({ code }))).toMatchObject({ status: 404 });
  expect(await refusalOf(operator.listAccounts({ client: theirs }))).toMatchObject({ status: 403 });
  await operator.revokeVerifier({ client, path: { verifier_id: id } });
  expect(await refusalOf(verify({ code }))).toMatchObject({ status: 401 });
  expect((await operator.listVerifiers({ client })).items[0]?.revoked).not.toBeNull();
});

test('sets TLD prices and settings, and counts due jobs', async () => {
  const service = await startOperator();
  const { client } = service;
  const prices = { create: '1.5', renew: '2', transfer: '0' };
  expect(await operator.setTldPrice({ client, path: { tld: 'app' }, body: prices })).toMatchObject({
    create: '1.50',
    renew: '2.00',
  });
  expect(await operator.getSettings({ client })).toEqual({
    mode: 'sandbox',
    extension: true,
    rate_limit: null,
    vat_rates: [{ basis_points: 1900, valid_from: '1970-01-01' }],
    time_zone: 'Europe/Berlin',
    vm_identifier_quarantine_days: 90,
    address_quarantine_days: 1,
    request_log_retention: { months: null, bytes_per_account: 512 * 2 ** 20 },
    audit_retention_months: null,
    default_quotas: { vms: null, handles: null, records_per_domain: 1_000 },
    second_operator: false,
    missing: [],
  });
  await operator.setDefaultRateLimit({ client, body: { rate_limit: { requests: 2, seconds: 5 } } });
  const statuses = [await service.call('listDomains'), await service.call('listDomains'), await service.call('listDomains')];
  expect(statuses.map(({ status }) => status)).toEqual([200, 200, 429]);
  expect(await operator.getDueWork({ client })).toMatchObject({ overdue: 0, overdue_since: null });
  service.clock.advanceTo('2026-12-01T00:00:00Z');
  expect(await operator.getDueWork({ client })).toMatchObject({ overdue: 2, overdue_since: '2026-12-01T00:00:00.000Z' });
  expect(await refusalOf(operator.terminateDomain({ client, path: { domain: 'nobody.net' } }))).toMatchObject({ status: 404 });
  expect((await operator.listDomains({ client })).items).toEqual([]);
});

test('lists the first of the next jobs, however few are asked for', async () => {
  const service = await startOperator();
  const { client } = service;
  for (const name of 'hgfedcba') {
    await register(service, `${name}.net`);
    service.clock.advance(86_400_000);
  }
  const { next } = await operator.getDueWork({ client });
  for (let limit = 1; limit < next.length; limit++)
    expect((await operator.getDueWork({ client, query: { limit } })).next).toEqual(next.slice(0, limit));
});

test('lists the next job of every account, server and domain, in the order of their instants', async () => {
  const service = await startOperator();
  const { client } = service;
  const { id } = await service.account();
  await orderServer(service, EPYC, id);
  await deployedServer(service, XEON);
  const { apiKey } = await deployedServer(service, RYZEN);
  expect((await service.call('deleteDedicatedServer', { path: { identifier: RYZEN }, apiKey })).status).toBe(200);
  await register(service, 'kept.net');
  await register(service, 'leaving.net');
  await operator.terminateDomain({ client, path: { domain: 'leaving.net' } });
  const { next } = await operator.getDueWork({ client });
  expect(next.map(({ due }) => due)).toEqual(next.map(({ due }) => due).toSorted());
  const jobs = next.filter(({ kind }) => /^(dedicated|domain)_/.test(kind)).map(({ kind, subject }) => `${kind} ${subject}`);
  expect(jobs.toSorted()).toEqual(
    [
      `dedicated_end ${RYZEN}`,
      `dedicated_renewal ${XEON}`,
      `dedicated_setup ${EPYC}`,
      'domain_end leaving.net',
      'domain_renewal kept.net',
    ].toSorted(),
  );
  expect(next).toContainEqual({ kind: 'period_end', subject: id, account_id: id, due: '2026-12-01T00:00:00.000Z' });
});
