import type { NetAndGross, ResizeVmRequest, Vm } from '@reseller/operator-client';
import { sql } from 'kysely';
import type { Selectable } from 'kysely';

import { vatRatesOf } from '../core/accounting/account-vat.ts';
import { heldBy } from '../core/accounting/credit-hold.ts';
import { quotedAmounts } from '../core/accounting/quote.ts';
import { settleAccount } from '../core/jobs/settle.ts';
import { addressesOf, addressesOfVms, ofFamily } from '../core/vm/addresses.ts';
import type { AssignedAddress } from '../core/vm/addresses.ts';
import { barRestartByReseller, restartBilling, stateAfter } from '../core/vm/change.ts';
import { vmCommands } from '../core/vm/commands.ts';
import type { VmCommands } from '../core/vm/commands.ts';
import { quotedResize } from '../core/vm/quote-resize.ts';
import type { CommandHooks } from '../delivery/command.ts';
import { InfrastructureError } from '../delivery/deliver.ts';
import type { Runtime } from '../delivery/runtime.ts';
import { toInstant } from '../rules/instants.ts';
import { labelsOf } from '../rules/labels.ts';
import { decimalOf } from '../rules/money.ts';
import type { Money } from '../rules/money.ts';
import type { VmState } from '../rules/vm-state.ts';
import { lockAccount } from '../store/account-lock.ts';
import type { Db } from '../store/store.ts';
import type { VmsTable } from '../store/tables/vms.ts';
import { recordingHooks } from './access/recording-hooks.ts';
import type { ReadOperation, RecordChange, ServiceOperation, StoreOperation } from './operation.ts';
import { readPage } from './paging.ts';
import type { Order } from './paging.ts';
import { requireFound, OperatorProblem } from './problem.ts';

type Row = Selectable<VmsTable>;

const order: Order = { columns: { created: 'integer', id: 'integer' }, direction: 'desc' };
const ALL = sql<boolean>`1 = 1`;

/** GET /vms */
export const listVms: ReadOperation<'listVms'> = {
  kind: 'read',
  async run(db, { query }) {
    const { account_id: account, state } = query;
    const vms = db
      .selectFrom('vms')
      .selectAll()
      .where(({ eb }) => (account === undefined ? ALL : eb('account_id', '=', account)))
      .where(({ eb }) => (state === undefined ? ALL : eb('state', '=', state)));
    const { rows, next_cursor } = await readPage(vms, order, query);
    const addresses = await addressesOfVms(
      db,
      rows.map(({ id }) => id),
    );
    return { items: rows.map((vm) => toVm(vm, addresses.get(vm.id))), next_cursor };
  },
};

/** GET /vms/{vm_id} */
export const getVm: ReadOperation<'getVm'> = {
  kind: 'read',
  run: async (db, { path }) => describeVm(db, await vmOf(db, path.vm_id)),
};

/** GET /vms/{vm_id}/access: only the hypervisor knows the ports, which change when another program takes one. */
export const getVmAccess: ServiceOperation<'getVmAccess'> = {
  kind: 'service',
  async run({ runtime: { store, ports }, path }) {
    const { id, state } = await store.read((db) => vmOf(db, path.vm_id));
    const isThere = state === 'installing' || state === 'running' || state === 'stopped';
    try {
      const forwarded = (isThere && (await ports.hypervisor.forwardedPorts?.(id))) || [];
      return { forwarded_ports: forwarded.toSorted((one, other) => one.port - other.port) };
    } catch (error) {
      throw new InfrastructureError('The hypervisor did not say how the VM is reached. Nothing was changed. Try again.', { cause: error });
    }
  },
};

/** POST /vms/{vm_id}/stop: a stopped VM stays unchanged, and only the provider starts it. */
export const stopVm: ServiceOperation<'stopVm'> = {
  kind: 'service',
  run: (call, record) => bringTo('stopped', call, record, (vms, id) => vms.stop(id)),
};

/** POST /vms/{vm_id}/start: a running VM stays unchanged. */
export const startVm: ServiceOperation<'startVm'> = {
  kind: 'service',
  run: (call, record) => bringTo('running', call, record, (vms, id) => vms.start(id)),
};

/** DELETE /vms/{vm_id}: a removed VM stays unchanged. */
export const removeVm: ServiceOperation<'removeVm'> = {
  kind: 'service',
  run: (call, record) => bringTo('removed', call, record, (vms, id) => vms.remove(id)),
};

/** PUT /vms/{vm_id}/abuse-status */
export const setVmAbuseStatus: ServiceOperation<'setVmAbuseStatus'> = {
  kind: 'service',
  async run({ runtime, path, body }, record) {
    const { store } = runtime;
    const { id } = await store.read((db) => vmOf(db, path.vm_id));
    await vmCommands(runtime, vmHooks(path.vm_id, record)).setAbuseStatus(id, body);
    return store.read(async (db) => describeVm(db, await vmOf(db, path.vm_id)));
  },
};

/** POST /vms/{vm_id}/resize */
export const resizeVm: ServiceOperation<'resizeVm'> = {
  kind: 'service',
  async run({ runtime, path, body }, record) {
    const { store } = runtime;
    const vm = await store.read((db) => vmOf(db, path.vm_id));
    await vmCommands(runtime, vmHooks(path.vm_id, record)).resize(vm.id, { resources: definedOnly(body) });
    return store.read(async (db) => describeVm(db, await vmOf(db, path.vm_id)));
  },
};

/** POST /vms/{vm_id}/resize/quote */
export const quoteResizeVm: ServiceOperation<'quoteResizeVm'> = {
  kind: 'service',
  async run({ runtime, path, body, now }) {
    const { store } = runtime;
    const { account_id: accountId } = await store.read((db) => vmOf(db, path.vm_id));
    await settleAccount(runtime, { accountId, now });
    return store.read(async (db) => {
      const vm = await vmOf(db, path.vm_id);
      stateAfter(vm, 'resize');
      const resize = await quotedResize(db, vm, { resources: definedOnly(body), now });
      const { price, untilPeriodEnd, credit } = quotedAmounts(resize, {
        rates: await vatRatesOf(db, accountId),
        held: await heldBy(db, accountId),
        now,
      });
      return {
        price: shownAmounts(price),
        until_period_end: shownAmounts(untilPeriodEnd),
        period_end: toInstant(resize.periodEnd * 1000),
        needed_credit: decimalOf(credit),
        ended_sale: resize.endedSale?.title ?? null,
      };
    });
  },
};

/** POST /vms/{vm_id}/restart-billing */
export const restartVmBilling: StoreOperation<'restartVmBilling'> = {
  kind: 'store',
  async before(db, { path }) {
    const { account_id } = await vmOf(db, path.vm_id);
    await lockAccount(db, account_id);
    return describeVm(db, await vmOf(db, path.vm_id));
  },
  async run({ db }, { path, now, runtime }) {
    await restartBilling(db, runtime, { vmId: Number(path.vm_id), now });
    return describeVm(db, await vmOf(db, path.vm_id));
  },
};

/** Runs a command unless the VM already has the state that the command leads to. */
async function bringTo(
  state: VmState,
  { runtime, path }: { readonly runtime: Runtime; readonly path: { readonly vm_id: string } },
  record: RecordChange,
  command: (vms: VmCommands, id: number) => Promise<void>,
): Promise<Vm> {
  const { store } = runtime;
  const vm = await store.read((db) => vmOf(db, path.vm_id));
  // The store has the new state as soon as the change is requested. The hypervisor may still be at work.
  if (vm.state === state && vm.changing !== 0)
    throw new OperatorProblem(
      'wrong-state',
      `The hypervisor has not finished the last change of the VM ${vm.id}. The service retries until it has. Check the VM in a few seconds.`,
    );
  if (vm.state !== state) await command(vmCommands(runtime, vmHooks(path.vm_id, record)), vm.id);
  return store.commit(async ({ db }) => {
    // Its owner may have stopped it, and could start it again.
    if (vm.state === state && state === 'stopped') await barRestartByReseller(db, vm.id);
    const shown = await describeVm(db, await vmOf(db, path.vm_id));
    if (vm.state === state) await record(db, { before: shown, after: shown });
    return shown;
  });
}

export function vmHooks(id: string, record: RecordChange): CommandHooks {
  return recordingHooks(async (db) => describeVm(db, await vmOf(db, id)), record);
}

export async function vmOf(db: Db, id: string): Promise<Row> {
  const vm = await db.selectFrom('vms').selectAll().where('id', '=', Number(id)).executeTakeFirst();
  return requireFound(vm, `VM ${id}`);
}

function shownAmounts({ net, gross }: { readonly net: Money; readonly gross: Money }): NetAndGross {
  return { net: decimalOf(net), gross: decimalOf(gross) };
}

/** Without undefined properties, which would replace the present resources. */
function definedOnly(body: ResizeVmRequest): ResizeVmRequest {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
}

export async function describeVm(db: Db, vm: Row): Promise<Vm> {
  return toVm(vm, await addressesOf(db, vm.id));
}

function toVm(vm: Row, addresses: readonly AssignedAddress[] = []): Vm {
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
    name: vm.name ?? vm.hostname,
    labels: labelsOf(vm.labels),
    ipv4: ofFamily(4, addresses).map(({ address }) => address),
    ipv6: ofFamily(6, addresses).map(({ address }) => address),
    monthly_price: decimalOf(BigInt(vm.monthly_price)),
    sale_id: vm.price_basis === 'SALE' ? vm.sale_id : null,
    abuse: { status: vm.abuse_status, reason: vm.abuse_reason, statement: vm.abuse_statement },
    created: toInstant(vm.created),
  };
}
