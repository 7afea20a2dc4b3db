/** A machine of the hypervisor that carries the mark of the service, but that the store does not have, becomes the VM of an account. */
import type { VmSeen } from '@reseller/adapters';
import * as v from 'valibot';

import type { UndoableDelivery } from '../../delivery/delivery.ts';
import type { Reserved, Steps } from '../../delivery/steps.ts';
import type { Money } from '../../rules/money.ts';
import { Refusal } from '../../rules/refusal.ts';
import { monthlyPriceOf } from '../../rules/resources.ts';
import type { Db } from '../../store/store.ts';
import { assertVmQuota } from '../account/quota.ts';
import { assertMonthOf, highestPriceAt, holdCredit, releaseCredit } from '../accounting/credit-hold.ts';
import { holdOf } from '../accounting/vm-billing.ts';
import { catalogueOf } from '../catalogue/catalogue.ts';
import { pricesAt } from '../catalogue/host-system.ts';
import { settle } from '../jobs/settle.ts';
import { assignAddresses, returnUnusedAddresses } from './addresses.ts';
import { endChange } from './change.ts';
import { offerFor, newVmOf, startBilling } from './create.ts';
import type { Purchase } from './create.ts';
import { undoneMessage } from './deliveries.ts';
import { vmSubject } from './identifier.ts';
import { insertPlacedVm } from './new-vm.ts';
import { leaveNode, resizeOnNode, takeRoom } from './placement.ts';

/** The machine that becomes a VM, and the terms on which it is billed from then on. */
export interface Adoption extends Purchase {
  readonly machine: VmSeen;
}

const details = v.object({ vmId: v.number(), hold: v.number(), monthly: v.number() });
type Details = v.InferOutput<typeof details>;

const NO_ROOM = { cores: 0, mem: 0, disk: 0, storage: null };

export const vmAdoption: UndoableDelivery<Details> = {
  name: 'adoptVm',
  details,
  subject: vmSubject,
  undo: {
    // The machine was there before, so it stays.
    async call() {},
    async store({ db }, { vmId, hold }) {
      const vm = await db.selectFrom('vms').selectAll().where('id', '=', vmId).where('state', '=', 'reserved').executeTakeFirst();
      if (!vm) return;
      await releaseCredit(db, vm.account_id, BigInt(hold));
      await leaveNode(db, vm.node, vm);
      await returnUnusedAddresses(db, vmId);
      await db.deleteFrom('vms').where('id', '=', vmId).execute();
    },
  },
  describeFailure: undoneMessage,
};

/** Billing starts when the hypervisor has confirmed that the machine runs. A failed adoption leaves the machine as it is. */
export async function adoptVm(steps: Steps<void>, adoption: Adoption): Promise<void> {
  const { runtime, accountId, now } = adoption;
  const { vmId, hold, monthlyPrice } = await steps.reserve(vmAdoption, ({ db }) => reserveAdoption(db, adoption));
  // It fails unless the machine exists and carries the mark of the service.
  await steps.call(({ hypervisor }, token) => hypervisor.start(vmId, token));
  return steps.confirm(async ({ db }) => {
    await startBilling(db, { runtime, accountId, now }, { vmId, monthlyPrice, hold });
    await endChange(db, vmId, { state: 'running', booted: runtime.ports.clock.now() });
  });
}

interface ReservedAdoption extends Reserved<Details> {
  readonly vmId: number;
  /** The credit that is held until the end of the period. */
  readonly hold: Money;
  /** Net price of 30 days. */
  readonly monthlyPrice: Money;
}

async function reserveAdoption(db: Db, adoption: Adoption): Promise<ReservedAdoption> {
  const { runtime, accountId, vm, now, machine } = adoption;
  const vmId = machine.vmId ?? 0;
  const catalogue = await catalogueOf(db);
  const { host, os } = offerFor(adoption, catalogue);
  await settle(db, runtime, { accountId, now });
  const { prices, validFrom } = pricesAt(host, now);
  const monthlyPrice = monthlyPriceOf(vm, prices);
  // The machine has whatever password was set before.
  const row = { ...newVmOf(adoption, { host, os, sale: undefined, monthlyPrice, validFrom }), password_enabled: null };
  await assertMonthOf(db, accountId, { added: (hosts) => highestPriceAt(row, hosts), hosts: catalogue.hosts, field: 'hostsystem', now });
  const hold = holdOf({ start: Math.floor(now / 1000), monthlyPrice });
  await holdCredit(db, accountId, hold);
  await assertUnknown(db, vmId);
  const inserted = await insertPlacedVm(db, { ...row, id: vmId, node: await nodeFor(db, adoption) });
  if (!inserted) throw knownVm(vmId);
  await assertVmQuota(db, accountId);
  const order = { pools: catalogue.pools, accountId, vmId, datacenter: host.datacenter_name, now };
  await assignAddresses(db, { ...order, ips: vm.ips, allowFallbackIPs: vm.allowFallbackIPs });
  return { accountId, details: { vmId, hold: Number(hold), monthly: Number(monthlyPrice) }, vmId, hold, monthlyPrice };
}

/** Takes room on the node of the machine, or on any node of the host system if the hypervisor does not name it. */
async function nodeFor(db: Db, { vm, machine: { node } }: Adoption): Promise<string> {
  if (node === null) return takeRoom(db, vm.hostsystem, vm, 'Enlarge one of its nodes.');
  const known = await db.selectFrom('host_nodes').select('hostsystem').where('name', '=', node).where('retired', '=', 0).executeTakeFirst();
  if (known?.hostsystem !== vm.hostsystem) {
    const where = known ? `belongs to the host system ${known.hostsystem}` : 'is not in the catalogue';
    throw new Refusal(
      409,
      'wrong_state',
      `The machine is on the node ${node}, which ${where}. Choose that host system, or add the node to it.`,
    );
  }
  await resizeOnNode(db, node, NO_ROOM, vm);
  return node;
}

async function assertUnknown(db: Db, vmId: number): Promise<void> {
  if (await db.selectFrom('vms').select('id').where('id', '=', vmId).executeTakeFirst()) throw knownVm(vmId);
}

function knownVm(vmId: number): Refusal {
  return new Refusal(
    409,
    'wrong_state',
    `The store has a VM ${vmId}, or had one whose identifier is not free yet. Release the machine, or remove it from the hypervisor yourself.`,
  );
}
