/** Records of one name: the combinations that are refused, and the records that share a TTL. */
import { expect, test } from 'vitest';

import { register } from '../../../test/domains.ts';
import { startService } from '../../../test/harness.ts';

const path = { domain: 'reseller-customer.net' };
type Form = Readonly<Record<string, unknown>>;

async function startWithDomain() {
  const service = await startService();
  await register(service, path.domain);
  const add = (form: Form, domain = path.domain) => service.call('addDomainDns', { path: { domain }, form });
  const list = async (domain = path.domain): Promise<string[]> => {
    const { data } = (await service.call('listDomainDns', { path: { domain } })).body;
    return data.map((one: Record<string, unknown>) => `${one['name']} ${one['type']} ${one['data']} ${one['ttl']}`);
  };
  const edit = (record_id: string, form: Form) => service.call('editDomainDnsRecord', { path: { ...path, record_id }, form });
  return { service, add, list, edit };
}

test('refuses the same record, but not the same data with another type or name', async () => {
  const { add } = await startWithDomain();
  const text = { type: 'TXT', sub: 'www', data: 'v=spf1 -all' };
  expect((await add(text)).status).toBe(200);
  expect(await add(text)).toMatchObject({
    status: 409,
    body: {
      type: 'wrong_state',
      message: 'The domain reseller-customer.net already has this record. Change it by its record_id, or add other data.',
    },
  });
  expect((await add({ ...text, sub: 'other' })).status).toBe(200);
  expect((await add({ ...text, data: 'v=spf1 ~all' })).status).toBe(200);
});

test('refuses a CNAME next to another record in either order, and names the existing record', async () => {
  const { add, list } = await startWithDomain();
  await add({ type: 'MX', sub: 'mail', data: '10 mx.example.net' });
  await add({ type: 'CNAME', sub: 'www', data: 'web.example.net' });
  const before = await list();
  for (const [form, name, type] of [
    [{ type: 'CNAME', sub: 'mail', data: 'web.example.net' }, 'mail.reseller-customer.net', 'MX'],
    [{ type: 'A', sub: 'www', data: '198.51.100.23' }, 'www.reseller-customer.net', 'CNAME'],
    [{ type: 'CNAME', sub: 'www', data: 'other.example.net' }, 'www.reseller-customer.net', 'CNAME'],
  ] as const)
    expect(await add(form)).toMatchObject({
      status: 409,
      body: {
        type: 'wrong_state',
        message: `A CNAME cannot be next to another record of the name ${name}, which has a record of the type ${type}. Remove that record first, or choose another name.`,
      },
    });
  expect(await list()).toEqual(before);
});

test('gives a renamed record the TTL of its new name and type, or keeps its own if there is no other record', async () => {
  const { add, list, edit } = await startWithDomain();
  const { record_id } = (await add({ type: 'A', sub: 'one', data: '198.51.100.1', ttl: 120 })).body.data;
  await add({ type: 'A', sub: 'two', data: '198.51.100.2', ttl: 240 });
  await add({ type: 'AAAA', sub: 'three', data: '2001:db8::3', ttl: 480 });
  expect((await edit(record_id, { sub: 'two' })).body.data).toMatchObject({ record_id, ttl: 240 });
  expect((await edit(record_id, { sub: 'three' })).body.data).toMatchObject({ record_id, ttl: 240 });
  expect((await edit(record_id, { sub: 'two', ttl: 60 })).body.data).toMatchObject({ record_id, ttl: 60 });
  expect(await list()).toEqual([
    'three.reseller-customer.net AAAA 2001:db8::3 480',
    'two.reseller-customer.net A 198.51.100.1 60',
    'two.reseller-customer.net A 198.51.100.2 60',
  ]);
});

test('does not change the TTL of other names, types or domains', async () => {
  const { service, add, list } = await startWithDomain();
  await register(service, 'second.net');
  const form = { type: 'A', sub: 'www', data: '198.51.100.1', ttl: 120 };
  await add(form);
  await add({ ...form, sub: 'ftp' });
  await add({ ...form, type: 'AAAA', data: '2001:db8::1' });
  await add(form, 'second.net');
  await add({ ...form, data: '198.51.100.2', ttl: 60 });
  expect(await list()).toEqual([
    'ftp.reseller-customer.net A 198.51.100.1 120',
    'www.reseller-customer.net A 198.51.100.1 60',
    'www.reseller-customer.net A 198.51.100.2 60',
    'www.reseller-customer.net AAAA 2001:db8::1 120',
  ]);
  expect(await list('second.net')).toEqual(['www.second.net A 198.51.100.1 120']);
});

test('refuses an ALIAS next to an address, and takes a new ALIAS in the place of the present one', async () => {
  const { service, add, list } = await startWithDomain();
  await add({ type: 'ALIAS', data: 'web1.example.net', ttl: 60 });
  expect(await add({ type: 'A', data: '198.51.100.1' })).toMatchObject({
    status: 409,
    body: {
      message:
        'An ALIAS cannot be next to an address or another ALIAS of the name reseller-customer.net, which has a record of the type ALIAS. Remove that record first, or choose another name.',
    },
  });
  expect((await service.call('editDomainDns', { path, form: { type: 'ALIAS', data: 'web2.example.net' } })).status).toBe(200);
  expect(await list()).toEqual(['reseller-customer.net ALIAS web2.example.net 60']);
});

test('refuses records below a DNAME, in either order, and names the record that is in the way', async () => {
  const { add, list, edit } = await startWithDomain();
  const { record_id } = (await add({ type: 'A', sub: 'x.a_b', data: '198.51.100.1' })).body.data;
  await add({ type: 'A', sub: 'x.acb', data: '198.51.100.1' });
  const dname = { type: 'DNAME', sub: 'a_b', data: 'example.org' };
  expect(await add(dname)).toMatchObject({
    status: 409,
    body: {
      message:
        'A DNAME replaces all names below its own, but x.a_b.reseller-customer.net is below a_b.reseller-customer.net. Remove the records below it first, or choose another name.',
    },
  });
  expect((await edit(record_id, dname)).status).toBe(200);
  const below = { type: 'A', sub: 'y.a_b', data: '198.51.100.1' };
  expect(await add(below)).toMatchObject({ status: 409, body: { message: expect.stringContaining('Remove the DNAME first') } });
  expect((await add({ ...below, sub: 'a_b' })).status).toBe(200);
  expect((await add({ type: 'DNAME', data: 'example.org' })).status).toBe(409);
  expect(await list()).toHaveLength(3);
});

test('takes text with and without quotation marks for one value', async () => {
  const { add, list, service } = await startWithDomain();
  await add({ type: 'TXT', data: '"v=spf1 -all"', ttl: 60 });
  expect((await add({ type: 'TXT', data: 'v=spf1 -all' })).status).toBe(409);
  expect((await service.call('editDomainDns', { path, form: { type: 'TXT', data: '"v=spf1" " -all"' } })).status).toBe(200);
  expect(await list()).toEqual(['reseller-customer.net TXT v=spf1 -all 60']);
});
