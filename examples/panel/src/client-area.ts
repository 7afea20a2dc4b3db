/** The calls for a server that a customer makes in the client area. */
import type { RdnsEntry, VmBackup } from '@reseller/client/extension';

import { maxServerPrice } from './packages.ts';
import type { Panel } from './purchase.ts';
import { vmOf } from './servers.ts';

/** Null stands for what the service does not measure or limit. */
export interface Usage {
  /** Percent of all cores. */
  readonly cpu: number | null;
  /** MB. */
  readonly memory: number | null;
  /** GB. */
  readonly disk: number | null;
  /** Bytes of this month. */
  readonly traffic: number;
  readonly includedTraffic: number | null;
}

/** Names an address in reverse DNS, or all addresses. @returns The names. `forward_confirmed` says whether a name leads back to its address. */
export async function setReverseName(panel: Panel, id: string, name: string, address?: string): Promise<readonly RdnsEntry[]> {
  const form = address === undefined ? { domain: name } : { domain: name, ip_address: address };
  return panel.reseller.vm.rdns.set(vmOf(panel, id), form);
}

/** Uses a slot of the package. Without a free one, the service refuses it. */
export async function backUp(panel: Panel, id: string, description: string): Promise<VmBackup> {
  return panel.reseller.vm.backup.create(vmOf(panel, id), { description });
}

export async function backups(panel: Panel, id: string): Promise<readonly VmBackup[]> {
  return (await panel.reseller.vm.backup.list(vmOf(panel, id))).list;
}

export async function restore(panel: Panel, id: string, backupId: string): Promise<void> {
  await panel.reseller.vm.backup.restore(vmOf(panel, id), { backup_id: backupId });
}

export async function usage(panel: Panel, id: string): Promise<Usage> {
  const { vm } = panel.reseller;
  const vmid = vmOf(panel, id);
  const [{ usage: now }, { months, included }] = await Promise.all([vm.status(vmid), vm.traffic(vmid)]);
  return {
    cpu: now?.cpu.data ?? null,
    memory: now?.mem.data ?? null,
    disk: now?.nvme_storage.data ?? null,
    traffic: months.find(({ month }) => month === new Date().toISOString().slice(0, 7))?.total ?? 0,
    includedTraffic: included,
  };
}

/** Buys addresses until the server has the wanted number. The form says how many it has afterwards, so no click buys more. */
export async function buyAddresses(panel: Panel, id: string, wanted: number): Promise<readonly string[]> {
  if (!Number.isInteger(wanted)) throw new Error('The number of addresses must be a whole number, such as 2.');
  const vmid = vmOf(panel, id);
  const { config } = await panel.reseller.vm.config(vmid);
  if (wanted > config.ipv4.length)
    await panel.reseller.vm.change(vmid, { ips: wanted, max_price: maxServerPrice(panel.orders.find(id).product, wanted) });
  return addresses(panel, id);
}

export async function addresses(panel: Panel, id: string): Promise<readonly string[]> {
  return (await panel.reseller.vm.config(vmOf(panel, id))).config.ipv4.map(({ ip_address }) => ip_address);
}

/** Gives an address back, which ends its costs. */
export async function releaseAddress(panel: Panel, id: string, address: string): Promise<void> {
  if ((await addresses(panel, id)).includes(address)) await panel.reseller.ip.release(address);
}

/** Moves an address to another server of the customer. The other server then costs more, and the one that had it gets its price of now, too. */
export async function moveAddress(panel: Panel, address: string, toId: string): Promise<void> {
  const { product } = panel.orders.find(toId);
  const had = await addresses(panel, toId);
  if (had.includes(address)) return;
  const { ip } = panel.reseller;
  const vmid = vmOf(panel, toId);
  const { price, vms = [] } = await ip.quoteAssign(address, { vmid });
  const most = maxServerPrice(product, had.length + 1);
  if (vms.some((vm) => String(vm.vmid) === vmid && vm.net > Number(most)))
    throw new Error(`The server would cost more than ${most} EUR with the address. Raise its price in the list of packages first.`);
  await ip.assign(address, { vmid, max_price: String(price.net) });
}

/** A link to the screen of the server, for the browser of the customer. It opens one session. */
export async function consoleLink(panel: Panel, id: string): Promise<string> {
  return (await panel.reseller.vm.console(vmOf(panel, id))).console_url;
}

/** Boots from an ISO file, such as a rescue system. @throws ResellerError with the status 501 if the hypervisor of the service cannot do it. */
export async function rescue(panel: Panel, id: string, iso: string): Promise<void> {
  await panel.reseller.vm.iso.attach(vmOf(panel, id), { iso });
}

/** Boots from the disk again. */
export async function endRescue(panel: Panel, id: string): Promise<void> {
  await panel.reseller.vm.iso.detach(vmOf(panel, id));
}
