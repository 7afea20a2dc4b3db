/** Two operators who change the same resource. */
import * as operator from '@reseller/operator-client';
import { describe, expect, test } from 'vitest';

import { engines } from '../../test/engines.ts';
import { SMALL_VM } from '../../test/harness.ts';
import { startOperator } from '../../test/operator.ts';
import type { TestOperator } from '../../test/operator.ts';
import { operatorApi } from '../http/operator/api.ts';

const put = (body: unknown, ifMatch?: string) => ({
  method: 'PUT',
  headers: { 'content-type': 'application/json', ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }) },
  body: JSON.stringify(body),
});

const SERIES = { next_number: 1, digits: 5 };
const POOL = { datacenter: 'AMS1', cidr: '203.0.113.0/24' };
const NO_LIMITS = { valid_until: null, allowed_networks: null };

/** A resource, a change of it, and the body of the change by a number. */
const CHANGES: readonly (readonly [string, string, (number: number) => unknown])[] = [
  ['/settings', '/settings/default-quotas', (number) => ({ default_quotas: { vms: number, handles: null } })],
  ['/settings', '/settings/rate-limit', (number) => ({ rate_limit: { requests: number, seconds: 60 } })],
  [
    '/invoicing/series',
    '/invoicing/series',
    (number) => ({ invoices: { ...SERIES, prefix: `R${number}-` }, credit_notes: { ...SERIES, prefix: 'C-' } }),
  ],
  ['/tld-prices/net', '/tld-prices/net', (number) => ({ create: `${number}.00`, renew: '1.00', transfer: '1.00' })],
  ['/os-images/debian_12', '/os-images/debian_12', (number) => ({ displayname: `Debian ${number}`, username: 'root' })],
  ['/ip-pools/test-net', '/ip-pools/test-net', (number) => ({ ...POOL, ddos_protection: `Protection ${number}` })],
  ['/api-keys/{key}', '/api-keys/{key}/rate-limit', (number) => ({ rate_limit: { requests: number, seconds: 60 } })],
  [
    '/api-keys/{key}',
    '/api-keys/{key}/restrictions',
    (number) => ({ ...NO_LIMITS, spending_limit: { per_day: `${number}.00`, per_month: null, operations: null } }),
  ],
];

/** The changes that make what does not exist. */
const MAKERS = operatorApi.filter(({ operation, versionedBy }) => {
  const read = operatorApi.find((one) => one.id === versionedBy);
  return operation.responses['404'] === undefined && read?.operation.responses['404'] !== undefined;
});

const MADE: Readonly<Record<string, readonly [string, (service: TestOperator) => Promise<unknown>]>> = {
  defineHostSystem: [
    '/host-systems/moon',
    async ({ client }) => {
      const { name: _, ...host } = await operator.getHostSystem({ client, path: { hostsystem: 'nl_ryzen' } });
      return { ...host, nodes: [{ name: 'moon-01', cores: 2, mem: 2_048, disk: 20, storage: 0 }] };
    },
  ],
  setTldPrice: ['/tld-prices/moon', async () => ({ create: '1.00', renew: '1.00', transfer: '1.00' })],
  defineOsImage: ['/os-images/moon', async () => ({ displayname: 'Moon', username: 'root' })],
  defineIpPool: ['/ip-pools/moon', async () => ({ ...POOL, cidr: '198.51.100.0/24', ddos_protection: 'Arbor' })],
};

describe.each(engines)('on %s', (engine) => {
  async function start() {
    const service = await startOperator({ engine });
    const { client } = service;
    await operator.defineIpPool({ client, path: { ip_pool_id: 'test-net' }, body: { ...POOL, ddos_protection: 'Arbor' } });
    const { id } = await service.account();
    const key = await operator.issueApiKey({ client, path: { account_id: id }, body: { label: 'Till' } });
    const at = (path: string) => path.replace('{key}', key.id);
    const read = async (path: string) => {
      const { status, headers, body } = await service.operate(at(path));
      expect([path, status]).toEqual([path, 200]);
      return { tag: headers.get('etag') ?? '', body };
    };
    return { service, key, read, send: (path: string, body: unknown, tag?: string) => service.operate(at(path), put(body, tag)) };
  }

  test.each(CHANGES)('of two who read %s and send %s, the second one is refused and changes nothing', async (resource, change, bodyOf) => {
    const { read, send } = await start();
    const seen = await read(resource);
    expect((await send(change, bodyOf(11), seen.tag)).status).toBe(200);
    const changed = await read(resource);
    expect(changed.tag).not.toBe(seen.tag);
    const refused = await send(change, bodyOf(12), seen.tag);
    expect([refused.status, refused.body.type]).toEqual([412, 'https://operator.reseller.invalid/problems/precondition-failed']);
    expect(await read(resource)).toEqual(changed);
    expect((await send(change, bodyOf(13), changed.tag)).status).toBe(200);
    expect((await send(change, bodyOf(14), '*')).status).toBe(200);
    expect((await send(change, bodyOf(15))).status).toBe(200);
  });

  test('a purchase changes what is used of a node, a pool and a key, and not their versions', async () => {
    const { service, key, read, send } = await start();
    const limit = { per_day: '100.00', per_month: null, operations: null };
    expect((await send('/api-keys/{key}/restrictions', { ...NO_LIMITS, spending_limit: limit })).status).toBe(200);
    const host = await read('/host-systems/nl_ryzen');
    const pools = (await service.operate('/ip-pools')).body.items;
    const [before, ...poolsBefore] = [
      await read('/api-keys/{key}'),
      ...(await Promise.all(pools.map(({ id }: { id: string }) => read(`/ip-pools/${id}`)))),
    ];
    expect((await service.call('createVm', { apiKey: key.key, form: SMALL_VM })).status).toBe(200);
    const after = await read('/host-systems/nl_ryzen');
    expect(after.body.nodes[0].used_cores).toBeGreaterThan(host.body.nodes[0].used_cores);
    expect(after.tag).toBe(host.tag);
    const { name: _, nodes, processor, ...rest } = after.body;
    const bare = nodes.map(({ name, cores, mem, disk, storage }: Readonly<Record<string, unknown>>) => ({
      name,
      cores,
      mem,
      disk,
      storage,
    }));
    const define = (text: string) => send('/host-systems/nl_ryzen', { ...rest, nodes: bare, processor: text }, after.tag);
    expect((await define(`${processor}, boosted`)).body).toMatchObject({ processor: `${processor}, boosted` });
    expect((await define(processor)).status).toBe(412);
    const bought = await read('/api-keys/{key}');
    expect(bought.body.spending_limit.spent_today).not.toBe(before.body.spending_limit.spent_today);
    expect(bought.tag).toBe(before.tag);
    const poolsAfter = await Promise.all(pools.map(({ id }: { id: string }) => read(`/ip-pools/${id}`)));
    const usedOf = (list: readonly { readonly body: { readonly used: number } }[]) => list.map(({ body }) => body.used);
    expect(usedOf(poolsAfter)).not.toEqual(usedOf(poolsBefore));
    expect(poolsAfter.map(({ tag }) => tag)).toEqual(poolsBefore.map(({ tag }) => tag));
  });

  test('the key that is used keeps its version', async () => {
    const { service, key, read } = await start();
    const before = await read('/api-keys/{key}');
    await service.store.commit(({ db }) =>
      db.updateTable('api_keys').set({ last_used: service.clock.now() }).where('id', '=', key.id).execute(),
    );
    const after = await read('/api-keys/{key}');
    expect([before.body.last_used, after.body.last_used]).toEqual([null, expect.any(String)]);
    expect(after.tag).toBe(before.tag);
  });

  test.each(MAKERS.map(({ id }) => id))('If-Match refuses %s if there is nothing that it could match', async (id) => {
    const { service, send } = await start();
    const [path, bodyOf] = MADE[id] ?? expect.fail(`MADE has no resource for ${id}.`);
    const body = await bodyOf(service);
    for (const tag of ['*', '"any"', '"any", "other"']) {
      const refused = await send(path, body, tag);
      expect([tag, refused.status, refused.body.type]).toEqual([
        tag,
        412,
        'https://operator.reseller.invalid/problems/precondition-failed',
      ]);
      expect(refused.body.detail).toMatch(/does not exist/);
      expect((await service.operate(path)).status).toBe(404);
    }
    const create = () => service.operate(path, { ...put(body), headers: { 'content-type': 'application/json', 'if-none-match': '*' } });
    expect((await create()).status).toBe(200);
    const made = await service.operate(path);
    const refused = await create();
    expect([refused.status, refused.body.detail]).toEqual([412, expect.stringContaining('exists already')]);
    expect((await service.operate(path)).headers.get('etag')).toBe(made.headers.get('etag'));
    expect((await send(path, body, '*')).status).toBe(200);
    expect((await send(path, body)).status).toBe(200);
  });

  test('of many who change what they all have read, one succeeds', async () => {
    const { read, send } = await start();
    const { tag } = await read('/settings');
    const sent = Array.from({ length: 8 }, (_, index) =>
      send('/settings/default-quotas', { default_quotas: { vms: index + 1, handles: null } }, tag),
    );
    const statuses = (await Promise.all(sent)).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([200, ...Array.from({ length: 7 }, () => 412)]);
  });
});
