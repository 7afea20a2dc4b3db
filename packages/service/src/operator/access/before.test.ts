/** The audit has the state that a change replaced, even if others change the same resource concurrently. */
import { isDeepStrictEqual } from 'node:util';

import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';

import { countWaiting } from '../../../test/databases.ts';
import { newInstances } from '../../../test/instances.ts';
import type { TestInstance } from '../../../test/instances.ts';

test.each([
  ['setCreditLimit', 'account', (number: number) => ['credit-limit', { credit_limit: `${number}.00` }]],
  ['setQuotas', 'account', (number: number) => ['quotas', { vms: number, handles: null }]],
  ['setBillingProfile', 'account', (number: number) => ['billing-profile', { ...PROFILE, street: `Musterallee ${number}` }]],
  ['setApiKeyRateLimit', 'key', (number: number) => ['rate-limit', { rate_limit: { requests: number, seconds: 60 } }]],
] as const)('%s on two instances concurrently', { tags: 'outer' }, async (operation, of, changeTo) => {
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
  // Each change except the first begins with the state that exactly one other change left.
  const sources = records.map(({ before }) => records.findIndex(({ after }) => isDeepStrictEqual(before, after)));
  expect(sources.filter((source) => source === -1)).toHaveLength(1);
  expect(new Set(sources).size).toBe(12);
});

/** A request of the operator API. */
type Request = readonly [method: 'PUT' | 'POST', path: string, body?: unknown];

/** A change that two operators send, and a statement of a transaction that the first change must wait for. */
interface Contest {
  readonly operation: string;
  readonly hold: string;
  prepare(instance: TestInstance): Promise<(number: number) => Request>;
}

function settingContest(operation: string, name: string, change: (number: number) => Request): Contest {
  return { operation, hold: `insert into settings (name, value) values ('${name}', 'null')`, prepare: async () => change };
}

const contests: readonly Contest[] = [
  {
    operation: 'defineHostSystem',
    hold: "select 1 from host_systems where name = 'nl_ryzen' for update",
    async prepare(instance) {
      const { name: _, nodes, ...host } = (await instance.operate('GET', '/host-systems/nl_ryzen')).body;
      const bare = nodes.map((node: Record<string, unknown>) =>
        Object.fromEntries(Object.entries(node).filter(([member]) => !member.startsWith('used_'))),
      );
      return (number) => ['PUT', '/host-systems/nl_ryzen', { ...host, nodes: bare, displayname: `Ryzen ${number}` }];
    },
  },
  {
    operation: 'defineOsImage',
    hold: "select 1 from os_images where name = 'debian_12' for update",
    prepare: async () => (number) => ['PUT', '/os-images/debian_12', { displayname: `Debian ${number}`, username: 'root' }],
  },
  {
    operation: 'defineIpPool',
    hold: 'select 1 from ip_pools for update',
    async prepare(instance) {
      const [{ id, datacenter, cidr }] = (await instance.operate('GET', '/ip-pools')).body.items;
      return (number) => ['PUT', `/ip-pools/${id}`, { datacenter, cidr, ddos_protection: `Protection ${number}` }];
    },
  },
  {
    operation: 'setTldPrice',
    hold: "select 1 from tlds where tld = 'net' for update",
    prepare: async () => (number) => ['PUT', '/tld-prices/net', { create: `${number}.00`, renew: '1.00', transfer: '1.00' }],
  },
  {
    operation: 'endSale',
    hold: 'select 1 from sales for update',
    async prepare(instance) {
      const [{ id }] = (await instance.operate('GET', '/sales?state=active')).body.items;
      return () => ['POST', `/sales/${id}/end`];
    },
  },
  settingContest('setDefaultRateLimit', 'rate_limit', (requests) => [
    'PUT',
    '/settings/rate-limit',
    { rate_limit: { requests, seconds: 60 } },
  ]),
  settingContest('setVatRates', 'vat_rates', (number) => [
    'PUT',
    '/settings/vat-rates',
    {
      vat_rates: [
        { basis_points: 1_900, valid_from: '2020-01-01' },
        { basis_points: number, valid_from: '2999-01-01' },
      ],
    },
  ]),
  settingContest('setVmIdentifierQuarantine', 'vm_identifier_quarantine', (number) => [
    'PUT',
    '/settings/vm-identifier-quarantine',
    { vm_identifier_quarantine_days: number },
  ]),
  settingContest('setRequestLogRetention', 'request_log_retention', (months) => [
    'PUT',
    '/settings/request-log-retention',
    { request_log_retention: { months, bytes_per_account: null } },
  ]),
  settingContest('setAuditRetention', 'audit_retention', (number) => [
    'PUT',
    '/settings/audit-retention',
    { audit_retention_months: number },
  ]),
  {
    operation: 'setSeller',
    hold: "select 1 from settings where name = 'seller' for update",
    async prepare(instance) {
      const { seller } = (await instance.operate('GET', '/invoicing/seller')).body;
      return (number) => ['PUT', '/invoicing/seller', { ...seller, company: `Seller ${number}` }];
    },
  },
  {
    operation: 'revokeOperatorToken',
    hold: 'select 1 from operator_tokens for update',
    async prepare(instance) {
      const { id } = (await instance.operate('POST', '/operator-tokens', { name: 'old', scopes: ['read'] })).body;
      return () => ['POST', `/operator-tokens/${id}/revoke`];
    },
  },
  {
    operation: 'revokeVerifier',
    hold: 'select 1 from verifiers for update',
    async prepare(instance) {
      const { id } = (await instance.operate('POST', '/verifiers', { name: 'old' })).body;
      return () => ['POST', `/verifiers/${id}/revoke`];
    },
  },
];

test.each(contests)(
  '$operation by two operators, the second after the first has read the state',
  { tags: 'outer' },
  async ({ operation, hold, prepare }) => {
    const instances = await newInstances();
    const [one, two] = [await instances.start(), await instances.start()];
    const change = await prepare(one);
    const other = new Client({ connectionString: instances.url });
    await other.connect();
    onTestFinished(() => other.end());
    await other.query('begin');
    expect((await other.query(hold)).rowCount).toBeGreaterThan(0);
    const first = one.operate(...change(1));
    await expect.poll(() => countWaiting(other)).toBe(1);
    const second = two.operate(...change(2));
    await expect.poll(() => countWaiting(other)).toBe(2);
    await other.query('rollback');
    expect([(await first).status, (await second).status]).toEqual([200, 200]);
    const records: { before: unknown; after: unknown }[] = (await one.operate('GET', `/audit?operation=${operation}`)).body.items;
    const [{ body: afterFirst }, { body: afterSecond }] = [await first, await second];
    expect(records).toHaveLength(2);
    expect(records).toContainEqual(expect.objectContaining({ after: afterFirst }));
    expect(records).toContainEqual(expect.objectContaining({ before: afterFirst, after: afterSecond }));
  },
);

const PROFILE = { company: 'Nordwind GmbH', postal_code: '60311', city: 'Frankfurt', country: 'DE', vat_id: null, reverse_charge: false };
