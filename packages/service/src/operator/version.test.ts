/** Two operators who change the same resource. */
import { expect, test } from 'vitest';

import { SMALL_VM } from '../../test/harness.ts';
import { startOperator } from '../../test/operator.ts';

const put = (body: object, ifMatch?: string) => ({
  method: 'PUT',
  headers: { 'content-type': 'application/json', ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }) },
  body: JSON.stringify(body),
});

const SERIES = { next_number: 1, digits: 5 };

test.each([
  ['/settings', '/settings/default-quotas', (number: number) => ({ default_quotas: { vms: number, handles: null } })],
  ['/settings', '/settings/rate-limit', (number: number) => ({ rate_limit: { requests: number, seconds: 60 } })],
  [
    '/invoicing/series',
    '/invoicing/series',
    (number: number) => ({ invoices: { ...SERIES, prefix: `R${number}-` }, credit_notes: { ...SERIES, prefix: 'C-' } }),
  ],
])('of two who read %s and send %s, the second one is refused and changes nothing', async (resource, change, bodyOf) => {
  const service = await startOperator();
  const read = async () => {
    const { headers, body } = await service.operate(resource);
    return { tag: headers.get('etag') ?? '', body };
  };
  const seen = await read();
  expect((await service.operate(change, put(bodyOf(11), seen.tag))).status).toBe(200);
  const changed = await read();
  expect(changed.tag).not.toBe(seen.tag);
  const refused = await service.operate(change, put(bodyOf(12), seen.tag));
  expect([refused.status, refused.body.type]).toEqual([412, 'https://operator.reseller.invalid/problems/precondition-failed']);
  expect(await read()).toEqual(changed);
  expect((await service.operate(change, put(bodyOf(13), changed.tag))).status).toBe(200);
  expect((await service.operate(change, put(bodyOf(14)))).status).toBe(200);
});

test('a purchase changes what is used of a node, and not the version of the host system', async () => {
  const service = await startOperator();
  const read = async () => {
    const { headers, body } = await service.operate('/host-systems/nl_ryzen');
    return { tag: headers.get('etag') ?? '', used: body.nodes[0].used_cores, body };
  };
  const before = await read();
  await service.call('createVm', { form: SMALL_VM });
  const after = await read();
  expect(after.used).toBeGreaterThan(before.used);
  expect(after.tag).toBe(before.tag);
  const { position, prices, ranges, displayname, datacenter, processor, memory, nvme_hard_drives, nodes } = after.body;
  const bare = nodes.map(({ name, cores, mem, disk, storage }: Readonly<Record<string, unknown>>) => ({ name, cores, mem, disk, storage }));
  const definition = { position, prices, ranges, displayname, datacenter, memory, nvme_hard_drives, nodes: bare };
  const define = (text: string) => service.operate('/host-systems/nl_ryzen', put({ ...definition, processor: text }, after.tag));
  expect((await define(`${processor}, boosted`)).body).toMatchObject({ processor: `${processor}, boosted` });
  expect((await define(processor)).status).toBe(412);
});

test('of many who change what they all have read, one succeeds', async () => {
  const service = await startOperator({ engine: 'postgres' });
  const tag = (await service.operate('/settings')).headers.get('etag') ?? '';
  const sent = Array.from({ length: 8 }, (_, index) =>
    service.operate('/settings/default-quotas', put({ default_quotas: { vms: index + 1, handles: null } }, tag)),
  );
  const statuses = (await Promise.all(sent)).map(({ status }) => status);
  expect(statuses.toSorted()).toEqual([200, ...Array.from({ length: 7 }, () => 412)]);
});
