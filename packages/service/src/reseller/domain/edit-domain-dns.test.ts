import { expect, test } from 'vitest';

import { footprint, register } from '../../../test/domains.ts';
import { startService } from '../../../test/harness.ts';
import type { TestService } from '../../../test/harness.ts';

const DOMAIN = 'reseller-customer.net';
const path = { domain: DOMAIN };

async function recordsOf({ store }: TestService): Promise<string[]> {
  const rows = await store.read((db) => db.selectFrom('dns_records').selectAll().orderBy('sub').orderBy('type').execute());
  return rows.map(({ domain, sub, type, data }) => `${sub}.${domain} ${type} ${data}`);
}

test('a record is stored, and replaces the one of its type and subdomain', async () => {
  const service = await startService();
  await register(service, DOMAIN);
  const edit = (form: { type: string; sub?: string; data: string }) => service.call('editDomainDns', { path, form });
  const { status, body } = await edit({ type: 'A', sub: 'www', data: '198.51.100.23' });
  expect({ status, data: body.data }).toEqual({ status: 200, data: null });
  await edit({ type: 'aaaa', sub: 'WWW', data: '2001:db8:0:0::23' });
  await edit({ type: 'A', sub: 'www', data: '198.51.100.24' });
  await edit({ type: 'MX', data: '10 mail.reseller-customer.net.' });
  expect(await recordsOf(service)).toEqual([
    '.reseller-customer.net MX 10 mail.reseller-customer.net',
    'www.reseller-customer.net A 198.51.100.24',
    'www.reseller-customer.net AAAA 2001:db8::23',
  ]);
  await edit({ type: 'CNAME', sub: 'www', data: 'web1.example.net' });
  expect(await recordsOf(service)).toEqual([
    '.reseller-customer.net MX 10 mail.reseller-customer.net',
    'www.reseller-customer.net CNAME web1.example.net',
  ]);
  await edit({ type: 'A', sub: 'www', data: '198.51.100.25' });
  expect(await recordsOf(service)).toContain('www.reseller-customer.net A 198.51.100.25');
  expect(await recordsOf(service)).toHaveLength(2);
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
])('%s: 422 names the field and the rule, and nothing is changed', async (_, wrong, field, rule) => {
  const service = await startService();
  await register(service, DOMAIN);
  const before = await footprint(service);
  const { status, body } = await service.call('editDomainDns', { path, form: { type: 'A', sub: 'www', data: '198.51.100.23', ...wrong } });
  expect(status).toBe(422);
  expect(body.data.fields).toContainEqual({ field, rule, message: expect.stringMatching(/\w/) });
  expect(await footprint(service)).toEqual(before);
});

test('the same key with another record: 409, and the first one holds', async () => {
  const service = await startService();
  await register(service, DOMAIN);
  const form = { type: 'A', sub: 'www', data: '198.51.100.23' };
  expect((await service.call('editDomainDns', { path, form, idempotencyKey: 'one' })).status).toBe(200);
  const other = await service.call('editDomainDns', { path, form: { ...form, data: '198.51.100.24' }, idempotencyKey: 'one' });
  expect(other).toMatchObject({ status: 409, body: { type: 'idempotency_key_reused' } });
  expect(await recordsOf(service)).toEqual(['www.reseller-customer.net A 198.51.100.23']);
});
