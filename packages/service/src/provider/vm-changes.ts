/** The changes of a VM, each as what it reserves, delivers and confirms, and what becomes of it where it is left half-done. */
import type { Selectable } from 'kysely';

import { holdCredit, holdOwed, releaseCredit } from '../operations/accounting/credit-hold.ts';
import { beginPosition, billingInstant, endPosition, freedByEnding, holdOf, lastPosition } from '../operations/accounting/vm-billing.ts';
import type { NewPosition } from '../operations/accounting/vm-billing.ts';
import type { DeliveredOperation, ReservationDetails } from '../operations/operation.ts';
import { ipv4Of, assignMoreIpv4, releaseAddresses, releaseLastIpv4, releaseOtherIpv4 } from '../operations/vm/addresses.ts';
import { leaveNode, resizeOnNode } from '../operations/vm/placement.ts';
import type { Ports } from '../ports/ports.ts';
import type { VmSize } from '../ports/hypervisor.ts';
import { invalid } from '../refusal.ts';
import type { Money } from '../rules/money.ts';
import { brokenRanges, monthlyPriceOf } from '../rules/resources.ts';
import type { BilledResources } from '../rules/resources.ts';
import type { VmsTable } from '../store/schema.ts';
import type { Db } from '../store/store.ts';
import type { Change, Reserved } from './change.ts';
import { claim, freed, hostSystemOf, pricesFor } from './vm-state.ts';
import type { Resize } from './vm.ts';

/** Which VM is changed, and with what. */
export interface VmActing {
  readonly vmId: number;
  readonly ports: Ports;
  /** Known to the service alone. */
  readonly secret: string;
}

type Left = Pick<DeliveredOperation<never>, 'withdraw' | 'release'>;
type Row = Selectable<VmsTable>;

const settlingOf = (db: Db, { account_id: accountId }: Row, { ports, secret }: VmActing) =>
  billingInstant(db, { accountId, now: ports.clock.now(), ports, secret });

/** Billing begins when the VM runs; its cost until the period ends is kept beforehand. */
export const starting = {
  begin(acting: VmActing): Change<void> {
    let kept: { vm: Row; hold: Money };
    return {
      async reserve(db) {
        const { vm, instant } = await claim(db, acting, 'start');
        const hold = holdOf(await nextPosition(db, vm, instant));
        await holdCredit(db, vm.account_id, hold);
        kept = { vm, hold };
        return { accountId: vm.account_id, subject: `vm/${vm.id}`, details: { vmId: vm.id, account: vm.account_id, hold: Number(hold) } };
      },
      deliver: (turn) => acting.ports.hypervisor.start(acting.vmId, turn),
      async confirm(db) {
        const { vm, hold } = kept;
        const position = await nextPosition(db, vm, await settlingOf(db, vm, acting));
        await freed(db, vm.id, { state: 'running' });
        await releaseCredit(db, vm.account_id, hold - holdOf(position));
        await beginPosition(db, position);
      },
      failure: takenBack,
    };
  },
  left: {
    withdraw: ({ hypervisor }, details, { turn }) => hypervisor.stop(vmIdOf(details), turn),
    async release({ db }, details) {
      await releaseHold(db, details);
      await freed(db, vmIdOf(details), {});
    },
  } satisfies Left,
};

/** Billing ends before the VM does. */
export const stopping = {
  begin(acting: VmActing): Change<void> {
    return {
      reserve: (db) => ended(db, acting, 'stop'),
      deliver: (turn) => acting.ports.hypervisor.stop(acting.vmId, turn),
      confirm: async (db) => void (await freed(db, acting.vmId, {})),
      finished: () => {},
      failure: toldAgain,
    };
  },
  left: {
    withdraw: ({ hypervisor }, details, { turn }) => hypervisor.stop(vmIdOf(details), turn),
    release: async ({ db }, details) => void (await freed(db, vmIdOf(details), {})),
  } satisfies Left,
};

/** Billing ends before the VM does; its room and addresses are free after it. */
export const removing = {
  begin(acting: VmActing): Change<void> {
    return {
      reserve: (db) => ended(db, acting, 'remove'),
      deliver: (turn) => acting.ports.hypervisor.remove(acting.vmId, turn),
      confirm: (db) => vacate(db, acting.vmId),
      finished: () => {},
      failure: toldAgain,
    };
  },
  left: {
    withdraw: ({ hypervisor }, details, { turn }) => hypervisor.remove(vmIdOf(details), turn),
    release: ({ db }, details) => vacate(db, vmIdOf(details)),
  } satisfies Left,
};

/**
 * Until it is confirmed the VM takes of everything what is more, before or after. The price is that
 * of the reservation.
 */
export const resizing = {
  begin(acting: VmActing, { resources, allowFallbackIPs = false }: Resize): Change<Money> {
    let kept: { vm: Row; to: BilledResources; size: VmSize; hold: Money; price: Money; basis: 'SALE' | 'STANDARD' };
    return {
      async reserve(db) {
        const { vm, instant } = await claim(db, acting, 'resize');
        const from = resourcesOf(vm);
        const to: BilledResources = { ...from, ...resources };
        if (JSON.stringify(to) === JSON.stringify(from)) {
          await freed(db, vm.id, {});
          return { result: BigInt(vm.monthly_price) };
        }
        const host = await hostSystemOf(db, vm);
        const broken = brokenRanges(to, host.ranges, host.name);
        if (broken.length > 0) throw invalid(broken);
        const before = sizeOf(vm, from, await ipv4Of(db, vm.id));
        await resizeOnNode(db, vm.node, from, mostOf(from, to));
        const order = { accountId: vm.account_id, vmId: vm.id, datacenter: host.datacenter_name, allowFallbackIPs };
        if (to.ips > from.ips) await assignMoreIpv4(db, { ...order, ips: to.ips - from.ips });
        const size = sizeOf(vm, to, (await ipv4Of(db, vm.id)).slice(0, to.ips));
        const { prices, basis } = await pricesFor(db, vm, host);
        const price = monthlyPriceOf(to, prices);
        const hold = await holdMore(db, vm, price, instant);
        kept = { vm, to, size, hold, price, basis };
        const details = { vmId: vm.id, account: vm.account_id, hold: Number(hold), to: JSON.stringify(to), before: JSON.stringify(before) };
        return { accountId: vm.account_id, subject: `vm/${vm.id}`, details };
      },
      deliver: (turn) => acting.ports.hypervisor.resize(kept.size, turn),
      async confirm(db) {
        const { vm, to, hold, price, basis } = kept;
        const from = resourcesOf(vm);
        const instant = await settlingOf(db, vm, acting);
        await freed(db, vm.id, { ...to, monthly_price: Number(price), price_basis: basis });
        await resizeOnNode(db, vm.node, mostOf(from, to), to);
        if (to.ips < from.ips) await releaseLastIpv4(db, vm.id, from.ips - to.ips);
        await releaseCredit(db, vm.account_id, hold);
        const stop = await endPosition(db, vm.id, instant);
        if (stop === undefined) return price;
        const position: NewPosition = { vmId: vm.id, accountId: vm.account_id, type: 'UP-DOWNGRADE', start: stop, monthlyPrice: price };
        // The reservation has asked whether the credit suffices.
        await holdOwed(db, vm.account_id, holdOf(position));
        await beginPosition(db, position);
        return price;
      },
      failure: takenBack,
    };
  },
  left: {
    withdraw: ({ hypervisor }, details, { turn }) => hypervisor.resize(JSON.parse(String(details['before'])), turn),
    async release({ db }, details) {
      await releaseHold(db, details);
      const vm = await freed(db, vmIdOf(details), {});
      const from = resourcesOf(vm);
      const to: BilledResources = JSON.parse(String(details['to']));
      await resizeOnNode(db, vm.node, mostOf(from, to), from);
      // Those that it had before, as the hypervisor was told: the new ones need not be the last.
      const before: VmSize = JSON.parse(String(details['before']));
      await releaseOtherIpv4(db, vm.id, before.ipv4);
    },
  } satisfies Left,
};

function takenBack(isUndone: boolean): string {
  const state = isUndone
    ? 'It was taken back. Send the request again later.'
    : 'It is being taken back. Send the request again in a few seconds.';
  return `The hypervisor could not do it, so nothing of it is billed. ${state}`;
}

function toldAgain(): string {
  return 'The VM is not billed any more, but the hypervisor has not done it yet: it is told again until it has. Look at the VM in a few seconds.';
}

/** Keeps what a position at a new price needs beyond the one that runs. What becomes cheaper is not refused, however little credit is left. */
async function holdMore(db: Db, vm: Row, price: Money, instant: number): Promise<Money> {
  const ending = await freedByEnding(db, vm.id, instant);
  if (!ending || price <= BigInt(vm.monthly_price)) return 0n;
  const more = holdOf({ start: ending.stop, monthlyPrice: price }) - ending.freed;
  await holdCredit(db, vm.account_id, more);
  return more;
}

/** What a VM is no more is so in the store at once. */
async function ended(db: Db, acting: VmActing, event: 'stop' | 'remove'): Promise<Reserved> {
  const { vm, instant } = await claim(db, acting, event);
  await endPosition(db, vm.id, instant);
  return { accountId: vm.account_id, subject: `vm/${vm.id}`, details: { vmId: vm.id } };
}

async function vacate(db: Db, vmId: number): Promise<void> {
  const vm = await freed(db, vmId, {});
  await leaveNode(db, vm.node, vm);
  await releaseAddresses(db, vmId);
}

async function nextPosition(db: Db, vm: Row, instant: number): Promise<NewPosition> {
  const last = await lastPosition(db, vm.id);
  const start = Math.max(instant, last?.stop ?? instant);
  return { vmId: vm.id, accountId: vm.account_id, type: 'BILLINGRESTART', start, monthlyPrice: BigInt(vm.monthly_price) };
}

/** The account's row first, as every unit takes it: on PostgreSQL, two that lock in turn would wait for each other. */
function releaseHold(db: Db, { account, hold }: ReservationDetails): Promise<void> {
  return releaseCredit(db, String(account), BigInt(hold ?? 0));
}

function vmIdOf(details: ReservationDetails): number {
  return Number(details['vmId']);
}

function resourcesOf({ cores, mem, disk, ips, backup_slots, network_speed, storage }: BilledResources): BilledResources {
  return { cores, mem, disk, ips, backup_slots, network_speed, storage };
}

function mostOf(one: BilledResources, other: BilledResources): BilledResources {
  return {
    ...other,
    cores: Math.max(one.cores, other.cores),
    mem: Math.max(one.mem, other.mem),
    disk: Math.max(one.disk, other.disk),
    storage: Math.max(one.storage ?? 0, other.storage ?? 0),
  };
}

function sizeOf({ id, node }: Row, resources: BilledResources, ipv4: readonly string[]): VmSize {
  const { cores, mem, disk, storage, network_speed: networkSpeed, backup_slots: backupSlots } = resources;
  return { vmId: id, node, cores, mem, disk, storage, networkSpeed, backupSlots, ipv4 };
}
