import { expect, test } from 'vitest';

import { footprint, register } from '../../../test/domains.ts';
import { startService } from '../../../test/harness.ts';
import type { TestService } from '../../../test/harness.ts';

const DOMAIN = 'reseller-customer.net';
const path = { domain: DOMAIN };

async function recordsOf({ store }: TestService): Promise<string[]> {
  const rows = await store.read((db) => db.selectFrom('dns_records').selectAll().orderBy('sub').orderBy('type').orderBy('data').execute());
  return rows.map(({ domain, sub, type, data }) => `${sub}.${domain} ${type} ${data}`);
}

test('adds a record to those of its name and type, and changes nothing for the same record', async () => {
  const service = await startService();
  await register(service, DOMAIN);
  const edit = (form: { type: string; sub?: string; data: string }) => service.call('editDomainDns', { path, form });
  const { status, body } = await edit({ type: 'A', sub: 'www', data: '198.51.100.23' });
  expect({ status, data: body.data }).toEqual({ status: 200, data: null });
  await edit({ type: 'aaaa', sub: 'WWW', data: '2001:db8:0:0::23' });
  await edit({ type: 'A', sub: 'www', data: '198.51.100.24' });
  await edit({ type: 'A', sub: 'www', data: '198.51.100.23' });
  await edit({ type: 'MX', data: '10 mail.reseller-customer.net.' });
  await edit({ type: 'MX', data: '20 mail2.reseller-customer.net' });
  await edit({ type: 'TXT', sub: '_acme-challenge', data: 'of-the-domain' });
  await edit({ type: 'TXT', sub: '_acme-challenge', data: 'of-its-subdomains' });
  expect(await recordsOf(service)).toEqual([
    '.reseller-customer.net MX 10 mail.reseller-customer.net',
    '.reseller-customer.net MX 20 mail2.reseller-customer.net',
    '_acme-challenge.reseller-customer.net TXT of-its-subdomains',
    '_acme-challenge.reseller-customer.net TXT of-the-domain',
    'www.reseller-customer.net A 198.51.100.23',
    'www.reseller-customer.net A 198.51.100.24',
    'www.reseller-customer.net AAAA 2001:db8::23',
  ]);
});

test('replaces a CNAME by a CNAME of the same name, and refuses conflicts without losing records', async () => {
  const service = await startService();
  await register(service, DOMAIN);
  const edit = (form: { type: string; sub?: string; data: string }) => service.call('editDomainDns', { path, form });
  await edit({ type: 'CNAME', sub: 'www', data: 'web1.example.net' });
  expect((await edit({ type: 'CNAME', sub: 'www', data: 'web2.example.net' })).status).toBe(200);
  await edit({ type: 'A', sub: 'ftp', data: '198.51.100.23' });
  const before = await recordsOf(service);
  expect(before).toEqual(['ftp.reseller-customer.net A 198.51.100.23', 'www.reseller-customer.net CNAME web2.example.net']);
  for (const form of [
    { type: 'A', sub: 'www', data: '198.51.100.23' },
    { type: 'CNAME', sub: 'ftp', data: 'web1.example.net' },
  ]) {
    expect(await edit(form)).toMatchObject({ status: 409, body: { type: 'wrong_state', message: expect.stringContaining('CNAME') } });
  }
  expect(await recordsOf(service)).toEqual(before);
});

test.each([
  ['no type', { type: undefined }, 'type', 'required'],
  ['no data', { data: undefined }, 'data', 'required'],
  ['empty data', { data: '' }, 'data', 'pattern'],
  ['an unknown type', { type: 'WKS' }, 'type', 'exists'],
  ['the name of a prototype', { type: '__proto__' }, 'type', 'exists'],
  ['data of another type', { data: '2001:db8::23' }, 'data', 'address'],
  ['a subdomain with a blank', { sub: 'my www' }, 'sub', 'pattern'],
  ['a NUL byte', { type: 'TXT', data: 'a\u0000b' }, 'data', 'pattern'],
  ['a CNAME of the domain itself', { type: 'CNAME', sub: '@', data: 'web1.example.net' }, 'sub', 'apex'],
  ['data beyond all bounds', { type: 'TXT', data: 'x'.repeat(4097) }, 'data', 'maxLength'],
  ['a field nobody knows', { ttl: '60' }, 'ttl', 'unknown'],
])('%s: responds with 422 that names the field and the rule, and changes nothing', async (_, wrong, field, rule) => {
  const service = await startService();
  await register(service, DOMAIN);
  const before = await footprint(service);
  const { status, body } = await service.call('editDomainDns', { path, form: { type: 'A', sub: 'www', data: '198.51.100.23', ...wrong } });
  expect(status).toBe(422);
  expect(body.data.fields).toContainEqual({ field, rule, message: expect.stringMatching(/\w/) });
  expect(await footprint(service)).toEqual(before);
});

test('responds with 409 to another record with the same key, and keeps the first one', async () => {
  const service = await startService();
  await register(service, DOMAIN);
  const form = { type: 'A', sub: 'www', data: '198.51.100.23' };
  expect((await service.call('editDomainDns', { path, form, idempotencyKey: 'one' })).status).toBe(200);
  const other = await service.call('editDomainDns', { path, form: { ...form, data: '198.51.100.24' }, idempotencyKey: 'one' });
  expect(other).toMatchObject({ status: 409, body: { type: 'idempotency_key_reused' } });
  expect(await recordsOf(service)).toEqual(['www.reseller-customer.net A 198.51.100.23']);
});
