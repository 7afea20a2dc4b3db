/** The life of a server. Each call may be made again after a failure or a crash: it continues, and does nothing twice. */
import { NotFoundError } from '@reseller/client/extension';
import type { CreatedVm, Recovered } from '@reseller/client/extension';

import type { Order, State } from './orders.ts';
import { maxServerPrice, packageNamed } from './packages.ts';
import { provide, recover } from './purchase.ts';
import type { Panel, Product } from './purchase.ts';

/** The data that a customer needs to log in. */
export interface Access {
  readonly vmid: string;
  readonly address: string;
  readonly username: string;
  /** Known only when the VM is created. `newPassword` replaces a password that was lost. */
  readonly password: string | undefined;
}

/** The data of the client area. */
export interface ServerArea {
  readonly package: string;
  readonly state: State;
  /** Null until the VM is created, and after the termination. */
  readonly vm: {
    readonly status: string;
    readonly uptime: number;
    readonly hostname: string;
    readonly addresses: readonly string[];
  } | null;
}

/** EUR for 30 days. */
export interface Cost {
  readonly net: number;
  readonly gross: number;
}

/** A login key, and what the VM does when it boots for the first time. */
export interface Setup {
  readonly ssh_key?: string;
  /** For cloud-init. */
  readonly user_data?: string;
}

/** All VMs of the panel are on this host system, with this operating system. */
const PLACE = { hostsystem: 'nl_ryzen', os: 'debian_12' };

/** The label of a VM that names its order. It tells the VMs of two orders apart, also those of one service. */
const ORDER_LABEL = 'panel-order';

export async function createServer(panel: Panel, id: string, packageName: string, setup: Setup = {}): Promise<Access> {
  if (!/^\d+$/.test(id)) throw new Error(`The service must be a number, such as 4711, and not ${id}.`);
  packageNamed(packageName);
  // Stored before anything is bought. A click after a crash finds the order, and its key buys nothing twice.
  const order = panel.orders.order(id, packageName);
  const bought = await provide(panel, order, serverOf(panel, order, setup));
  if (bought === undefined) {
    const vmid = vmOf(panel, id);
    // Its installation may have failed, or the provider may have deleted it.
    if ((await serverOf(panel, panel.orders.find(id)).find()) === undefined)
      throw new Error(`The VM ${vmid} of the order ${id} no longer exists. Terminate the order, then order again.`);
    return accessTo(panel, vmid);
  }
  const { identifier, config } = bought;
  return { vmid: String(identifier), address: config.ipv4[0]?.address ?? '', username: config.username, password: config.password };
}

export async function suspend(panel: Panel, id: string): Promise<void> {
  // A stopped VM is not billed. It keeps its disk and its addresses.
  await panel.reseller.vm.power(vmOf(panel, id), { mode: 'stop' });
  panel.orders.setState(id, 'suspended');
}

export async function unsuspend(panel: Panel, id: string): Promise<void> {
  await panel.reseller.vm.power(vmOf(panel, id), { mode: 'start' });
  panel.orders.setState(id, 'active');
}

export async function changePackage(panel: Panel, id: string, packageName: string): Promise<void> {
  const vmid = vmOf(panel, id);
  const { resources } = packageNamed(packageName);
  const { config } = await panel.reseller.vm.config(vmid);
  await panel.reseller.vm.change(vmid, { ...resources, max_price: maxServerPrice(packageName, config.ipv4.length) });
  panel.orders.setProduct(id, packageName);
}

/** The price that the company would pay after a change of the package. The service computes it, with a sale in which the VM was bought. */
export async function changeCost(panel: Panel, id: string, packageName: string): Promise<Cost> {
  const { price } = await panel.reseller.vm.quoteChange(vmOf(panel, id), packageNamed(packageName).resources);
  return { net: price.net, gross: price.gross };
}

export async function terminate(panel: Panel, id: string): Promise<void> {
  const order = panel.orders.find(id);
  if (order.state === 'terminated') return;
  const server = serverOf(panel, order);
  const vmid = await server.find();
  if (vmid !== undefined) await server.remove(vmid);
  if (!panel.orders.terminate(order)) throw new Error(`Another click has changed the order ${id}. Terminate it again.`);
}

export async function serverArea(panel: Panel, id: string): Promise<ServerArea> {
  const { product, state, resource } = panel.orders.find(id);
  if (resource === null || state === 'terminated') return { package: product, state, vm: null };
  const [{ status, uptime }, { config }] = await Promise.all([panel.reseller.vm.status(resource), panel.reseller.vm.config(resource)]);
  const addresses = config.ipv4.map(({ ip_address }) => ip_address);
  return { package: product, state, vm: { status, uptime, hostname: config.hostname, addresses } };
}

export async function newPassword(panel: Panel, id: string): Promise<string> {
  return (await panel.reseller.vm.resetPassword(vmOf(panel, id))).password;
}

/** The new name in the lists and on invoices. The operating system gets it when it is reinstalled. */
export async function rename(panel: Panel, id: string, hostname: string): Promise<void> {
  await panel.reseller.vm.edit(vmOf(panel, id), { hostname });
}

/** @throws Error if the order has no VM. */
export function vmOf(panel: Panel, id: string): string {
  const { resource, state } = panel.orders.find(id);
  if (resource === null || state === 'terminated') throw new Error(`The order ${id} is ${state} and has no VM.`);
  return resource;
}

function serverOf(panel: Panel, order: Order, setup: Setup = {}): Product<Recovered<CreatedVm>> {
  const { vm } = panel.reseller;
  return {
    async buy() {
      const form = {
        ...PLACE,
        ...packageNamed(order.product).resources,
        ...setup,
        hostname: `service-${order.id}`,
        labels: `${ORDER_LABEL}=${order.key}`,
        max_price: maxServerPrice(order.product, 1),
      };
      const bought = await vm.create(form, { idempotencyKey: order.key }).catch(async (error: unknown) => {
        const found = await recover(panel, error);
        if (found.operation === 'createVm') return found.data;
        throw error;
      });
      return { resource: String(bought.identifier), bought };
    },

    async find() {
      const { list } = await vm.list();
      const found = list.find(({ vmid, labels }) => String(vmid) === order.resource || labels?.[ORDER_LABEL] === order.key);
      // Identifiers are reused some weeks after a deletion.
      if (found && found.labels?.[ORDER_LABEL] !== order.key)
        throw new Error(`The VM ${found.vmid} has no label ${ORDER_LABEL}=${order.key}. Check whose it is before you delete it.`);
      return found && String(found.vmid);
    },

    async remove(vmid) {
      await vm.delete(vmid).catch((error: unknown) => {
        // An earlier click has deleted it.
        if (!(error instanceof NotFoundError)) throw error;
      });
    },
  };
}

async function accessTo({ reseller }: Panel, vmid: string): Promise<Access> {
  const { config } = await reseller.vm.config(vmid);
  return { vmid, address: config.ipv4[0]?.ip_address ?? '', username: config.username, password: undefined };
}
