/** The state before a change in the audit is the one that the change replaced, also if others change the same resource at the same time. */
import { isDeepStrictEqual } from 'node:util';

import { expect, test } from 'vitest';

import { newInstances } from '../../../test/instances.ts';

test.each([
  ['setCreditLimit', 'account', (number: number) => ['credit-limit', { credit_limit: `${number}.00` }]],
  ['setQuotas', 'account', (number: number) => ['quotas', { vms: number, handles: null }]],
  ['setBillingProfile', 'account', (number: number) => ['billing-profile', { ...PROFILE, street: `Musterallee ${number}` }]],
  ['setApiKeyRateLimit', 'key', (number: number) => ['rate-limit', { rate_limit: { requests: number, seconds: 60 } }]],
] as const)('%s by two instances at the same time', async (operation, of, changeTo) => {
  const instances = await newInstances();
  const both = [await instances.start(), await instances.start()];
  const [first] = both;
  if (!first) throw new Error('No instance was started.');
  const account = `/accounts/${instances.accountId}`;
  const { items } = (await first.operate('GET', `${account}/api-keys`)).body;
  const resource = of === 'account' ? account : `/api-keys/${items[0].id}`;
  const changes = Array.from({ length: 12 }, (_, index) => {
    const [path, body] = changeTo(index + 1);
    return both[index % 2]?.operate('PUT', `${resource}/${path}`, body);
  });
  for (const change of await Promise.all(changes)) expect(change?.status).toBe(200);
  const records: { before: unknown; after: unknown }[] = (await first.operate('GET', `/audit?operation=${operation}`)).body.items;
  expect(records).toHaveLength(12);
  // Each change began with the state that exactly one other left, except the first one.
  const sources = records.map(({ before }) => records.findIndex(({ after }) => isDeepStrictEqual(before, after)));
  expect(sources.filter((source) => source === -1)).toHaveLength(1);
  expect(new Set(sources).size).toBe(12);
});

const PROFILE = { company: 'Nordwind GmbH', postal_code: '60311', city: 'Frankfurt', country: 'DE', vat_id: null, reverse_charge: false };
