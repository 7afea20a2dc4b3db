/** The DNS group of the extension. */
import { expect, test } from 'vitest';

import { register } from '../../../test/domains.ts';
import { startService } from '../../../test/harness.ts';

const path = { domain: 'reseller-customer.net' };

interface Listed {
  readonly record_id: string;
  readonly type: string;
  readonly name: string;
  readonly data: string;
  readonly ttl: number;
}

async function startWithDomain() {
  const service = await startService();
  await register(service, path.domain);
  const add = (form: Readonly<Record<string, unknown>>) => service.call('addDomainDns', { path, form });
  const list = async (): Promise<Listed[]> => (await service.call('listDomainDns', { path })).body.data;
  return { service, add, list, of: (record_id: string) => ({ path: { ...path, record_id } }) };
}

const textsOf = (records: readonly Listed[]) => records.map(({ type, name, data }) => `${name} ${type} ${data}`);

test('keeps both TXT records that a certificate for a domain and its subdomains needs, and removes one of them', async () => {
  const { service, add, list, of } = await startWithDomain();
  const first = (await add({ type: 'TXT', sub: '_acme-challenge', data: 'token-1', ttl: 60 })).body.data;
  expect(first).toMatchObject({ name: '_acme-challenge.reseller-customer.net', type: 'TXT', data: 'token-1', ttl: 60 });
  await add({ type: 'TXT', sub: '_acme-challenge', data: 'token-2', ttl: 60 });
  expect((await service.call('removeDomainDns', of(first.record_id))).status).toBe(200);
  expect(textsOf(await list())).toEqual(['_acme-challenge.reseller-customer.net TXT token-2']);
});

test('lists records by name, type and data, including several values of one name', async () => {
  const { add, list } = await startWithDomain();
  await add({ type: 'NS', sub: 'lab', data: 'ns2.reseller-dns.example' });
  await add({ type: 'NS', sub: 'lab', data: 'ns1.reseller-dns.example' });
  await add({ type: 'MX', data: '20 mail2.reseller-customer.net' });
  await add({ type: 'MX', data: '10 mail.reseller-customer.net' });
  expect(textsOf(await list())).toEqual([
    'reseller-customer.net MX 10 mail.reseller-customer.net',
    'reseller-customer.net MX 20 mail2.reseller-customer.net',
    'lab.reseller-customer.net NS ns1.reseller-dns.example',
    'lab.reseller-customer.net NS ns2.reseller-dns.example',
  ]);
});

test('changes one record, keeps its identifier, and does not change other records', async () => {
  const { service, add, list, of } = await startWithDomain();
  const { record_id } = (await add({ type: 'A', sub: 'www', data: '198.51.100.23' })).body.data;
  await add({ type: 'A', sub: 'www', data: '198.51.100.24' });
  const edit = (form: Readonly<Record<string, unknown>>) => service.call('editDomainDnsRecord', { ...of(record_id), form });
  expect((await edit({ data: '198.51.100.25' })).body.data).toMatchObject({ record_id, data: '198.51.100.25', ttl: 3600 });
  expect((await edit({ sub: '' })).body.data).toMatchObject({ record_id, name: 'reseller-customer.net' });
  expect(textsOf(await list())).toEqual(['reseller-customer.net A 198.51.100.25', 'www.reseller-customer.net A 198.51.100.24']);
  // An IP address is not valid data of an MX record.
  expect(await edit({ type: 'MX' })).toMatchObject({ status: 422, body: { data: { fields: [{ field: 'data', rule: 'mx' }] } } });
});

test('gives all records of one name and type the TTL that was sent last', async () => {
  const { service, add, list, of } = await startWithDomain();
  await add({ type: 'A', sub: 'www', data: '198.51.100.23', ttl: 300 });
  await service.call('editDomainDns', { path, form: { type: 'A', sub: 'www', data: '198.51.100.24' } });
  await add({ type: 'AAAA', sub: 'www', data: '2001:db8::23' });
  const ttls = async () => (await list()).map(({ ttl }) => ttl);
  expect(await ttls()).toEqual([300, 300, 3600]);
  const [first] = await list();
  await service.call('editDomainDnsRecord', { ...of(first?.record_id ?? ''), form: { ttl: 60 } });
  expect(await ttls()).toEqual([60, 60, 3600]);
});

test('responds with 404 to a record of another domain, even of the same account', async () => {
  const { service, add, of } = await startWithDomain();
  await register(service, 'other.net');
  const { record_id } = (await add({ type: 'A', data: '198.51.100.23' })).body.data;
  const ofOther = { path: { domain: 'other.net', record_id } };
  expect((await service.call('removeDomainDns', ofOther)).status).toBe(404);
  expect((await service.call('editDomainDnsRecord', { ...ofOther, form: { ttl: 60 } })).status).toBe(404);
  expect((await service.call('removeDomainDns', of(record_id))).status).toBe(200);
});

test('refuses either a CNAME or an address of the same name that are added concurrently', async () => {
  const { add, list } = await startWithDomain();
  for (let round = 0; round < 5; round++) {
    const sub = `host${round}`;
    const responses = await Promise.all([
      add({ type: 'A', sub, data: '198.51.100.23' }),
      add({ type: 'CNAME', sub, data: 'web1.example.net' }),
      add({ type: 'A', sub, data: '198.51.100.23' }),
    ]);
    expect(responses.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
  }
  expect(await list()).toHaveLength(5);
});
