/** The capacity of a node: each resource up to its last unit. */
import { expect, test } from 'vitest';

import { startService } from '../../../test/harness.ts';
import type { TestService } from '../../../test/harness.ts';

const FORM = { cores: 2, mem: 4096, disk: 40, storage: 200, os: 'debian_12', hostsystem: 'de_xeon' } as const;
/** A resource with the amount that a resize adds to the VM. */
const RESOURCES = [
  ['cores', 1],
  ['mem', 512],
  ['disk', 5],
  ['storage', 100],
] as const;
type Resource = (typeof RESOURCES)[number][0];

/** Leaves this amount of a resource on every node of the host system. */
async function leaveFree({ store }: TestService, resource: Resource, amount: number): Promise<void> {
  await store.commit(async ({ db }) => {
    for (const node of await db.selectFrom('host_nodes').selectAll().where('hostsystem', '=', FORM.hostsystem).execute())
      await db
        .updateTable('host_nodes')
        .set({ [`used_${resource}`]: node[resource] - amount })
        .where('name', '=', node.name)
        .execute();
  });
}

const nodesOf = ({ store }: TestService) =>
  store.read((db) => db.selectFrom('host_nodes').selectAll().where('hostsystem', '=', FORM.hostsystem).orderBy('name').execute());

test.each(RESOURCES)('sells a VM with the last %s of a node, and refuses it with one unit less', async (resource) => {
  const service = await startService();
  await leaveFree(service, resource, FORM[resource] - 1);
  const before = await nodesOf(service);
  expect(await service.call('createVm', { form: FORM })).toMatchObject({
    status: 409,
    body: {
      type: 'out_of_capacity',
      message: 'The host system de_xeon has no room for this VM at the moment. Choose another host system, or fewer resources.',
    },
  });
  expect(await nodesOf(service)).toEqual(before);
  await leaveFree(service, resource, FORM[resource]);
  expect((await service.call('createVm', { form: FORM })).status).toBe(200);
  const [first] = await nodesOf(service);
  expect(first?.[`used_${resource}`]).toBe(first?.[resource]);
});

test.each(RESOURCES)('resizes a VM to the last %s of the node, and refuses it with one unit less', async (resource, more) => {
  const service = await startService();
  const { identifier } = (await service.call('createVm', { form: FORM })).body.data;
  const resize = () => service.vms.resize(identifier, { resources: { [resource]: FORM[resource] + more } });
  await leaveFree(service, resource, more - 1);
  const before = await nodesOf(service);
  await expect(resize()).rejects.toMatchObject({
    status: 409,
    type: 'out_of_capacity',
    message: 'The node de-xeon-01 has no room for this VM with more resources at the moment. Choose fewer resources.',
  });
  expect(await nodesOf(service)).toEqual(before);
  await leaveFree(service, resource, more);
  await resize();
  const [first] = await nodesOf(service);
  expect(first?.[`used_${resource}`]).toBe(first?.[resource]);
});

test('changes the free capacity by the difference on a resize, and returns all of it on a removal', async () => {
  const service = await startService();
  const usedResources = async () => {
    const [node] = await nodesOf(service);
    return [node?.used_cores, node?.used_mem, node?.used_disk, node?.used_storage];
  };
  const { identifier } = (await service.call('createVm', { form: FORM })).body.data;
  expect(await usedResources()).toEqual([2, 4096, 40, 200]);
  await service.vms.resize(identifier, { resources: { cores: 1, mem: 8192, disk: 45, storage: 300 } });
  expect(await usedResources()).toEqual([1, 8192, 45, 300]);
  await service.vms.remove(identifier);
  expect(await usedResources()).toEqual([0, 0, 0, 0]);
});

test('places a VM on the first node by name with enough capacity, and never on another host system', async () => {
  const service = await startService();
  const nodeOf = async (form: object) => {
    const { status, body } = await service.call('createVm', { form: { ...FORM, ...form } });
    if (status !== 200) return status;
    const vm = await service.store.read((db) =>
      db.selectFrom('vms').select('node').where('id', '=', body.data.identifier).executeTakeFirstOrThrow(),
    );
    return vm.node;
  };
  expect(await nodeOf({})).toBe('de-xeon-01');
  await service.store.commit(({ db }) =>
    db.updateTable('host_nodes').set({ used_mem: 4_194_304 }).where('name', '=', 'de-xeon-01').execute(),
  );
  expect(await nodeOf({})).toBe('de-xeon-02');
  await service.store.commit(({ db }) =>
    db.updateTable('host_nodes').set({ used_disk: 100_000 }).where('name', '=', 'de-xeon-02').execute(),
  );
  expect(await nodeOf({})).toBe(409);
  expect(await nodeOf({ hostsystem: 'de_epyc' })).toBe('de-epyc-01');
});
