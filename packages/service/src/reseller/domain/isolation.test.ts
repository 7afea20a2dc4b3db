import { expect, test } from 'vitest';

import { footprint, handleOf, register } from '../../../test/domains.ts';
import { startService } from '../../../test/harness.ts';

const requests = [
  ['getDomain', undefined],
  ['setDomainNameservers', { ns1: 'ns1.reseller-dns.example', ns2: 'ns2.reseller-dns.example' }],
  ['requestDomainAuthcode', undefined],
  ['undeleteDomain', undefined],
  ['editDomainDns', { type: 'A', sub: 'www', data: '198.51.100.23' }],
] as const;

test.each(requests)('%s responds to a domain of another account as to an unknown one, and has no effect', async (operation, form) => {
  const service = await startService();
  await register(service, 'reseller-customer.net');
  const { apiKey } = await service.account();
  const before = await footprint(service);
  const theirs = await service.call(operation, { path: { domain: 'reseller-customer.net' }, ...(form && { form }), apiKey });
  const unknown = await service.call(operation, { path: { domain: 'no-such-domain.net' }, ...(form && { form }), apiKey });
  expect(theirs.status).toBe(404);
  expect({ ...theirs.body, requestID: '' }).toEqual({ ...unknown.body, requestID: '' });
  expect(await footprint(service)).toEqual(before);
});

test('responds to a handle of another account as to an unknown one', async () => {
  const service = await startService();
  const handle = await handleOf(service);
  const { apiKey } = await service.account();
  const theirs = await service.call('getHandle', { path: { handle }, apiKey });
  const unknown = await service.call('getHandle', { path: { handle: 'HDL-ABCDEFGHJKLM' }, apiKey });
  expect(theirs.status).toBe(404);
  expect({ ...theirs.body, requestID: '' }).toEqual({ ...unknown.body, requestID: '' });
});

test.each([
  'net',
  'reseller-customer',
  'reseller-customer.net.',
  'reseller-customer.net/x',
  'reseller-customer.net?x',
  "' OR '1'='1",
  '1.2.3.4',
  '%2e',
  'handle',
  '💥.net',
  'ü'.repeat(253),
  '٤٨٢١٣',
  'xn--a.net',
  '..',
])("responds with 404 to '%s', which is not a domain", async (domain) => {
  const service = await startService();
  await register(service, 'reseller-customer.net');
  for (const [operation, form] of requests) {
    expect((await service.call(operation, { path: { domain }, ...(form && { form }) })).status).toBe(404);
  }
});
