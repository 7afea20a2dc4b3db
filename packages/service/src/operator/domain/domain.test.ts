import * as operator from '@reseller/operator-client';
import { expect, test } from 'vitest';

import { pauseRegistrar, register } from '../../../test/domains.ts';
import { refusalOf, startOperator } from '../../../test/operator.ts';
import { TestRegistrar } from '../../../test/ports/registrar.ts';
import type { FencingToken } from '../../index.ts';

test('lists domains by name, of all accounts or of one, with their details', async () => {
  const service = await startOperator();
  const { client } = service;
  const other = await service.account();
  for (const name of ['b.net', 'c.net']) await register(service, name);
  await register(service, 'a.net', other.apiKey);
  const { items } = await operator.listDomains({ client });
  expect(items.map(({ name }) => name)).toEqual(['a.net', 'b.net', 'c.net']);
  expect(items[0]).toMatchObject({
    account_id: other.id,
    terminated: false,
    created: '2026-11-10T12:03:17.000Z',
    expires: '2027-11-10T12:03:17.000Z',
  });
  const ofOne = await operator.listDomains({ client, query: { account_id: other.id } });
  expect(ofOne.items.map(({ name }) => name)).toEqual(['a.net']);
  const first = await operator.listDomains({ client, query: { limit: 2 } });
  const second = await operator.listDomains({ client, query: { limit: 2, cursor: first.next_cursor ?? '' } });
  expect([first.items.length, second.items.map(({ name }) => name), second.next_cursor]).toEqual([2, ['c.net'], null]);
});

test('shows the contact and the nameservers of a domain, whatever the case of its name', async () => {
  const service = await startOperator();
  const { client, registrar } = service;
  await register(service, 'shown.net');
  const found = await operator.getDomain({ client, path: { domain: 'Shown.NET' } });
  expect(found).toMatchObject({ name: 'shown.net', handle: registrar.domains.get('shown.net')?.contact.handle });
  expect(found.nameservers).toEqual(registrar.domains.get('shown.net')?.nameservers);
  expect(await refusalOf(operator.getDomain({ client, path: { domain: 'unknown.net' } }))).toMatchObject({ status: 404 });
});

test('keeps a terminated domain until it expires, tells the registrar, and lets the reseller withdraw the termination', async () => {
  const service = await startOperator();
  const { client, clock, registrar } = service;
  await register(service, 'leaving.net');
  const terminate = (domain: string) => operator.terminateDomain({ client, path: { domain } });
  // Names are case-insensitive, and a second request changes nothing.
  for (const name of ['leaving.net', 'LEAVING.net']) expect(await terminate(name)).toMatchObject({ name: 'leaving.net', terminated: true });
  expect(registrar.domains.get('leaving.net')).toMatchObject({ renewed: false });
  expect((await service.call('getDomain', { path: { domain: 'leaving.net' } })).body.data.domain.terminated).toBe(true);
  expect((await service.call('undeleteDomain', { path: { domain: 'leaving.net' } })).status).toBe(200);
  expect((await operator.listDomains({ client })).items).toMatchObject([{ terminated: false }]);
  await terminate('leaving.net');
  clock.advanceTo('2027-11-10T12:03:17Z');
  await service.runScheduledJobs();
  expect((await operator.listDomains({ client })).items).toEqual([]);
  expect(await refusalOf(terminate('leaving.net'))).toMatchObject({ status: 404 });
});

test('refuses to terminate a domain while it is being changed', async () => {
  const service = await startOperator();
  const { client } = service;
  await register(service, 'busy.net');
  const resume = pauseRegistrar(service);
  const nameservers = { ns1: 'ns1.reseller-dns.example', ns2: 'ns2.reseller-dns.example' };
  const changed = service.call('setDomainNameservers', { path: { domain: 'busy.net' }, form: nameservers });
  const terminate = () => operator.terminateDomain({ client, path: { domain: 'busy.net' } });
  await expect
    .poll(async () => (await service.store.read((db) => db.selectFrom('domains').select('state').execute()))[0]?.state)
    .toBe('changing');
  expect(await refusalOf(terminate())).toMatchObject({ status: 409, type: expect.stringMatching(/wrong-state$/) });
  resume();
  expect((await changed).status).toBe(200);
  expect(await terminate()).toMatchObject({ terminated: true });
});

/** A registrar that fails a number of times, before or after its work. */
class FailingRegistrar extends TestRegistrar {
  failures = 0;
  when: 'before' | 'after' = 'before';
  override async setRenewal(name: string, renewed: boolean, token: FencingToken): Promise<void> {
    if (this.failures-- <= 0) return super.setRenewal(name, renewed, token);
    if (this.when === 'after') await super.setRenewal(name, renewed, token);
    throw new Error('no route to the registry');
  }
}

test.each(['before', 'after'] as const)('repeats the call at once if the registrar fails once %s its work', async (when) => {
  const registrar = Object.assign(new FailingRegistrar(), { when });
  const service = await startOperator({ registrar });
  await register(service, 'leaving.net');
  registrar.failures = 1;
  const response = await service.operate('/domains/leaving.net/terminate', { method: 'POST' });
  expect(response).toMatchObject({ status: 200, body: { terminated: true } });
  expect(registrar.domains.get('leaving.net')).toMatchObject({ renewed: false });
});

test('responds with 503 that describes the state to every request while the registrar fails, until a call succeeds', async () => {
  const registrar = new FailingRegistrar();
  const service = await startOperator({ registrar });
  await register(service, 'leaving.net');
  const terminate = () => service.operate('/domains/leaving.net/terminate', { method: 'POST' });
  registrar.failures = Infinity;
  for (const _ of [1, 2]) {
    const response = await terminate();
    expect(response).toMatchObject({
      status: 503,
      body: { type: expect.stringMatching(/unavailable$/), detail: expect.stringContaining('retries until') },
    });
    expect(response.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  }
  // The domain is cancelled. The reseller cannot withdraw that while the call to the registrar is still repeated.
  expect((await service.call('getDomain', { path: { domain: 'leaving.net' } })).body.data.domain.terminated).toBe(true);
  expect((await service.call('undeleteDomain', { path: { domain: 'leaving.net' } })).status).toBe(409);
  await service.runScheduledJobs();
  expect(await terminate()).toMatchObject({ status: 503 });
  registrar.failures = 0;
  await service.runScheduledJobs();
  expect(registrar.domains.get('leaving.net')).toMatchObject({ renewed: false });
  expect(await terminate()).toMatchObject({ status: 200, body: { terminated: true } });
  expect((await service.call('undeleteDomain', { path: { domain: 'leaving.net' } })).status).toBe(200);
  expect(registrar.domains.get('leaving.net')).toMatchObject({ renewed: true });
});

test('ends a cancelled domain without further charges if it expires before the call to the registrar succeeds', async () => {
  const registrar = new FailingRegistrar();
  const service = await startOperator({ registrar });
  await register(service, 'leaving.net');
  registrar.failures = Infinity;
  expect((await service.operate('/domains/leaving.net/terminate', { method: 'POST' })).status).toBe(503);
  service.clock.advanceTo('2027-11-10T12:03:24Z');
  await service.runScheduledJobs();
  registrar.failures = 0;
  for (const _ of [1, 2]) await service.runScheduledJobs();
  expect((await service.call('getDomain', { path: { domain: 'leaving.net' } })).status).toBe(404);
  const charges = await service.store.read((db) => db.selectFrom('charges').select('type').execute());
  expect(charges).toEqual([{ type: 'CREATE' }]);
});
