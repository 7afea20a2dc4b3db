import { expect, test } from 'vitest';

import * as operator from '@reseller/operator-client';

import { holdUp, register } from '../../../test/domains.ts';
import { startOperator } from '../../../test/operator.ts';

const { orThrow } = operator;

test('domains are listed by name, of all accounts or of one, with what they are', async () => {
  const service = await startOperator();
  const { client } = service;
  const other = await service.account();
  for (const name of ['b.net', 'c.net']) await register(service, name);
  await register(service, 'a.net', other.apiKey);
  const { items } = await orThrow(operator.listDomains({ client }));
  expect(items.map(({ name }) => name)).toEqual(['a.net', 'b.net', 'c.net']);
  expect(items[0]).toMatchObject({
    account_id: other.id,
    terminated: false,
    created: '2026-11-10T12:00:00.000Z',
    expires: '2027-11-10T12:00:00.000Z',
  });
  const ofOne = await orThrow(operator.listDomains({ client, query: { account_id: other.id } }));
  expect(ofOne.items.map(({ name }) => name)).toEqual(['a.net']);
  const first = await orThrow(operator.listDomains({ client, query: { limit: 2 } }));
  const second = await orThrow(operator.listDomains({ client, query: { limit: 2, cursor: first.next_cursor ?? '' } }));
  expect([first.items.length, second.items.map(({ name }) => name), second.next_cursor]).toEqual([2, ['c.net'], null]);
});

test('a terminated domain stays until it expires, is renewed again when its reseller asks, and is told to the registrar', async () => {
  const service = await startOperator();
  const { client, clock, registrar } = service;
  await register(service, 'leaving.net');
  const terminate = (domain: string) => operator.terminateDomain({ client, path: { domain } });
  // Names are the same in upper and lower case; what is cancelled already stays so.
  for (const name of ['leaving.net', 'LEAVING.net'])
    expect(await orThrow(terminate(name))).toMatchObject({ name: 'leaving.net', terminated: true });
  expect(registrar.domains.get('leaving.net')).toMatchObject({ renewed: false });
  expect((await service.call('getDomain', { path: { domain: 'leaving.net' } })).body.data.domain.terminated).toBe(true);
  expect((await service.call('undeleteDomain', { path: { domain: 'leaving.net' } })).status).toBe(200);
  expect((await orThrow(operator.listDomains({ client }))).items).toMatchObject([{ terminated: false }]);
  await orThrow(terminate('leaving.net'));
  clock.advanceTo('2027-11-10T12:00:00Z');
  await service.runDueWork();
  expect((await orThrow(operator.listDomains({ client }))).items).toEqual([]);
  expect((await terminate('leaving.net')).error?.status).toBe(404);
});

test('a domain that is being changed is not terminated meanwhile', async () => {
  const service = await startOperator();
  const { client } = service;
  await register(service, 'busy.net');
  const goOn = holdUp(service);
  const nameservers = { ns1: 'ns1.reseller-dns.example', ns2: 'ns2.reseller-dns.example' };
  const changed = service.call('setDomainNameservers', { path: { domain: 'busy.net' }, form: nameservers });
  const terminate = () => operator.terminateDomain({ client, path: { domain: 'busy.net' } });
  await expect
    .poll(async () => (await service.store.read((db) => db.selectFrom('domains').select('state').execute()))[0]?.state)
    .toBe('changing');
  expect((await terminate()).error).toMatchObject({ status: 409, type: expect.stringMatching(/wrong-state$/) });
  goOn();
  expect((await changed).status).toBe(200);
  expect(await orThrow(terminate())).toMatchObject({ terminated: true });
});
