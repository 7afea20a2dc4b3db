import { sql } from 'kysely';
import type { Selectable } from 'kysely';

import type { BrokenRule, ResizeVmRequest, Vm } from '../generated/operator/types.gen.ts';
import { restartBilling } from '../core/vm/change.ts';
import { vmCommands } from '../core/vm/commands.ts';
import { decimalOf } from '../rules/money.ts';
import type { VmsTable } from '../store/tables/vms.ts';
import type { Db } from '../store/store.ts';
import type { ReadOperation, ServiceOperation, StoreOperation } from './operation.ts';
import { afterCursor, inOrder, pageOf, rowLimit } from './paging.ts';
import type { Order } from './paging.ts';
import { assertNoBrokenRules, requireFound, OperatorProblem } from './problem.ts';
import { toInstant } from './instants.ts';

type Row = Selectable<VmsTable>;

const order: Order = { columns: { created: 'integer', id: 'integer' }, direction: 'desc' };
const ALL = sql<boolean>`1 = 1`;

/** GET /vms */
export const listVms: ReadOperation<'listVms'> = {
  kind: 'read',
  async run(db, { query }) {
    const { account_id: account, state } = query;
    const vms = await db
      .selectFrom('vms')
      .selectAll()
      .where(afterCursor(order, query))
      .where(({ eb }) => (account === undefined ? ALL : eb('account_id', '=', account)))
      .where(({ eb }) => (state === undefined ? ALL : eb('state', '=', state)))
      .orderBy(inOrder(order))
      .limit(rowLimit(query))
      .execute();
    const { rows, next_cursor } = pageOf(vms, query, ({ created, id }) => [created, id]);
    return { items: await Promise.all(rows.map((vm) => toVm(db, vm))), next_cursor };
  },
};

/** GET /vms/{vm_id} */
export const getVm: ReadOperation<'getVm'> = {
  kind: 'read',
  run: async (db, { path }) => toVm(db, await vmOf(db, path.vm_id)),
};

/** POST /vms/{vm_id}/stop */
export const stopVm: ServiceOperation<'stopVm'> = {
  kind: 'service',
  async run({ runtime, path }) {
    const { store } = runtime;
    const { id, state, changing } = await store.read((db) => vmOf(db, path.vm_id));
    if (state !== 'stopped' && state !== 'running') throw wrongState(id, state, 'Only a running VM can be stopped');
    if (state === 'running') await vmCommands(runtime).stop(id);
    else assertAtRest(id, changing);
    return store.read(async (db) => toVm(db, await vmOf(db, path.vm_id)));
  },
};

/** POST /vms/{vm_id}/start */
export const startVm: ServiceOperation<'startVm'> = {
  kind: 'service',
  async run({ runtime, path }) {
    const { store } = runtime;
    const { id, state, changing } = await store.read((db) => vmOf(db, path.vm_id));
    if (state !== 'stopped' && state !== 'running') throw wrongState(id, state, 'Only a stopped VM can be started');
    if (state === 'stopped') await vmCommands(runtime).start(id);
    else assertAtRest(id, changing);
    return store.read(async (db) => toVm(db, await vmOf(db, path.vm_id)));
  },
};

/** POST /vms/{vm_id}/resize */
export const resizeVm: ServiceOperation<'resizeVm'> = {
  kind: 'service',
  async run({ runtime, path, body }) {
    const { store } = runtime;
    const vm = await store.read((db) => vmOf(db, path.vm_id));
    if (vm.state !== 'running' && vm.state !== 'stopped') throw wrongState(vm.id, vm.state, 'Only a running or stopped VM can be resized');
    assertNoBrokenRules([...shrinking(body.disk, vm.disk, 'disk'), ...shrinking(body.storage, vm.storage, 'storage')]);
    await vmCommands(runtime).resize(vm.id, { resources: asked(body) });
    return store.read(async (db) => toVm(db, await vmOf(db, path.vm_id)));
  },
};

/** POST /vms/{vm_id}/restart-billing */
export const restartVmBilling: StoreOperation<'restartVmBilling'> = {
  kind: 'store',
  async run({ db }, { path, now, runtime }) {
    const { id, state } = await vmOf(db, path.vm_id);
    if (state !== 'running') throw wrongState(id, state, 'Only a running VM has a position that can be restarted');
    await restartBilling(db, runtime, { vmId: id, now });
    return toVm(db, await vmOf(db, path.vm_id));
  },
};

/** DELETE /vms/{vm_id} */
export const removeVm: ServiceOperation<'removeVm'> = {
  kind: 'service',
  async run({ runtime, path }) {
    const { store } = runtime;
    const { id, state, changing } = await store.read((db) => vmOf(db, path.vm_id));
    if (state === 'reserved') throw wrongState(id, state, 'Wait until the hypervisor has delivered it');
    if (state === 'removed') assertAtRest(id, changing);
    else await vmCommands(runtime).remove(id);
    return store.read(async (db) => toVm(db, await vmOf(db, path.vm_id)));
  },
};

/** The hypervisor may not have carried out the state in the store yet. */
function assertAtRest(id: number, changing: number): void {
  if (changing === 0) return;
  throw new OperatorProblem(
    'wrong-state',
    `The hypervisor has not finished the last change of the VM ${id}. The service retries until it has. Check the VM in a few seconds.`,
  );
}

async function vmOf(db: Db, id: string): Promise<Row> {
  const vm = await db.selectFrom('vms').selectAll().where('id', '=', Number(id)).executeTakeFirst();
  return requireFound(vm, `VM ${id}`);
}

function wrongState(id: number, state: string, wanted: string): OperatorProblem {
  return new OperatorProblem('wrong-state', `The VM ${id} is ${state}. ${wanted}.`);
}

function shrinking(wanted: number | undefined, present: number | null, name: 'disk' | 'storage'): BrokenRule[] {
  if (wanted === undefined || present === null || wanted >= present) return [];
  return [{ pointer: `#/${name}`, detail: `must be at least its current size, ${present}: a disk cannot shrink` }];
}

/** The resources that the body names. */
function asked(body: ResizeVmRequest): ResizeVmRequest {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
}

async function toVm(db: Db, vm: Row): Promise<Vm> {
  const addresses = await db
    .selectFrom('ip_addresses')
    .innerJoin('ip_pools', 'ip_pools.id', 'ip_addresses.pool_id')
    .select(['ip_addresses.address', 'ip_pools.family'])
    .where('ip_addresses.vm_id', '=', vm.id)
    .orderBy('ip_addresses.pool_id')
    .orderBy('ip_addresses.position')
    .execute();
  const ofFamily = (family: number) => addresses.filter((address) => address.family === family).map(({ address }) => address);
  return {
    id: String(vm.id),
    account_id: vm.account_id,
    state: vm.state,
    hostsystem: vm.hostsystem,
    node: vm.node,
    cores: vm.cores,
    mem: vm.mem,
    disk: vm.disk,
    ips: vm.ips,
    backup_slots: vm.backup_slots,
    network_speed: vm.network_speed,
    storage: vm.storage,
    os: vm.os,
    hostname: vm.hostname,
    ipv4: ofFamily(4),
    ipv6: ofFamily(6),
    monthly_price: decimalOf(BigInt(vm.monthly_price)),
    sale_id: vm.price_basis === 'SALE' ? vm.sale_id : null,
    created: toInstant(vm.created),
  };
}
