/** The calls of a billing panel. Each may be made again after a failure or a crash: it continues, and does nothing twice. */
import { NotFoundError, OutcomeUnknownError } from '@reseller/client/extension';
import type { CreatedVm, CreateVmForm, Recovered, Reseller } from '@reseller/client/extension';

import { packageNamed } from './packages.ts';
import type { Service, Services, State } from './services.ts';

/** The data that a customer needs to log in. */
export interface Access {
  readonly vmid: number;
  readonly address: string;
  readonly username: string;
  /** Known only when the VM is created. `Panel.newPassword` replaces a password that was lost. */
  readonly password: string | undefined;
}

/** The data of the client area. */
export interface ClientArea {
  readonly package: string;
  readonly state: State;
  /** Null until the VM is created, and after the termination. */
  readonly vm: { readonly status: string; readonly uptime: number; readonly address: string; readonly hostname: string } | null;
}

/** EUR for 30 days. */
export interface Cost {
  readonly net: number;
  readonly gross: number;
}

export interface Panel {
  create(id: number, packageName: string): Promise<Access>;
  suspend(id: number): Promise<void>;
  unsuspend(id: number): Promise<void>;
  changePackage(id: number, packageName: string): Promise<void>;
  /** The price that the company would pay after a change of the package. */
  changeCost(id: number, packageName: string): Promise<Cost>;
  terminate(id: number): Promise<void>;
  clientArea(id: number): Promise<ClientArea>;
  newPassword(id: number): Promise<string>;
}

/** All VMs of the panel are on this host system, with this operating system. */
const PLACE = { hostsystem: 'nl_ryzen', os: 'debian_12' };

/** The service remembers an Idempotency-Key for 24 hours. One hour is more than any request takes. */
const ORDER_LIFETIME_MS = 23 * 3_600_000;

/** Buys a VM, and finds out what happened if the response is lost: the service sends the response to the key again. */
async function buyOnce(reseller: Reseller, form: CreateVmForm, idempotencyKey: string): Promise<Recovered<CreatedVm>> {
  try {
    return await reseller.vm.create(form, { idempotencyKey });
  } catch (error) {
    if (!(error instanceof OutcomeUnknownError)) throw error;
    const found = await reseller.reconcile(error);
    if (found.outcome === 'committed' && found.operation === 'createVm') return found.data;
    throw found.outcome === 'not-committed' ? (found.error ?? error) : error;
  }
}

export function createPanel(reseller: Reseller, services: Services): Panel {
  return {
    async create(id, packageName) {
      packageNamed(packageName);
      // Stored before anything is bought. A click after a crash finds the order, and its key buys nothing twice.
      const order = services.order(id, packageName);
      if (order.vmid !== null) return accessTo(order.vmid);
      if (Date.now() - order.ordered > ORDER_LIFETIME_MS) return continueOldOrder(order);
      const { resources, maxPrice } = packageNamed(order.package);
      const form = { ...PLACE, ...resources, hostname: hostnameOf(order), max_price: maxPrice };
      const { identifier, config } = await buyOnce(reseller, form, order.orderKey);
      await keep(order, identifier);
      return { vmid: identifier, address: config.ipv4[0]?.address ?? '', username: config.username, password: config.password };
    },

    async suspend(id) {
      // A stopped VM is not billed. It keeps its disk and its addresses.
      await reseller.vm.power(vmOf(id), { mode: 'stop' });
      services.setState(id, 'suspended');
    },

    async unsuspend(id) {
      await reseller.vm.power(vmOf(id), { mode: 'start' });
      services.setState(id, 'active');
    },

    async changePackage(id, packageName) {
      const { resources, maxPrice } = packageNamed(packageName);
      await reseller.vm.change(vmOf(id), { ...resources, max_price: maxPrice });
      services.setPackage(id, packageName);
    },

    async changeCost(id, packageName) {
      // The service computes it, because no price list says that a VM was bought in a sale.
      const { price } = await reseller.vm.quoteChange(vmOf(id), packageNamed(packageName).resources);
      return { net: price.net, gross: price.gross };
    },

    async terminate(id) {
      const service = services.find(id);
      if (service.state === 'terminated') return;
      const vmid = await findVm(service);
      if (vmid !== undefined) await remove(vmid);
      if (!services.terminate(service)) throw new Error(`Another click has changed the service ${id}. Terminate it again.`);
    },

    async clientArea(id) {
      const { package: packageName, state, vmid } = services.find(id);
      if (vmid === null || state === 'terminated') return { package: packageName, state, vm: null };
      const [{ status, uptime }, { config }] = await Promise.all([reseller.vm.status(vmid), reseller.vm.config(vmid)]);
      return { package: packageName, state, vm: { status, uptime, address: config.ipv4[0]?.ip_address ?? '', hostname: config.hostname } };
    },

    async newPassword(id) {
      return (await reseller.vm.resetPassword(vmOf(id))).password;
    },
  };

  /** @throws Error if the service has no VM. */
  function vmOf(id: number): number {
    const { vmid, state } = services.find(id);
    if (vmid === null || state === 'terminated') throw new Error(`The service ${id} is ${state} and has no VM.`);
    return vmid;
  }

  /** Stores a VM that was bought. If the service was terminated while the purchase was in progress, the VM is deleted. */
  async function keep(order: Service, vmid: number): Promise<void> {
    services.activate(order, vmid);
    const { vmid: kept, state } = services.find(order.id);
    if (kept === vmid && state !== 'terminated') return;
    await remove(vmid);
    throw new Error(`The service ${order.id} was terminated while its VM was being created. The VM was deleted.`);
  }

  /** The key of the order is forgotten, so nothing may be bought with it. The list of VMs tells whether something was. */
  async function continueOldOrder(order: Service): Promise<Access> {
    const vmid = await findVm(order);
    if (vmid === undefined)
      throw new Error(`The order of the service ${order.id} is too old, and bought nothing. Terminate the service, then create it again.`);
    await keep(order, vmid);
    return accessTo(vmid);
  }

  /** Finds the VM of a service in the list of all VMs: by its identifier, or by its hostname while that is not known. */
  async function findVm(service: Service): Promise<number | undefined> {
    const { list } = await reseller.vm.list();
    const hostname = hostnameOf(service);
    const vm = list.find((one) => (service.vmid === null ? one.hostname === hostname : one.vmid === service.vmid));
    // Identifiers are reused some weeks after a deletion.
    if (vm && vm.hostname !== hostname)
      throw new Error(`The VM ${vm.vmid} has the hostname ${vm.hostname}, not ${hostname}. Check whose it is before you delete it.`);
    return vm?.vmid;
  }

  async function remove(vmid: number): Promise<void> {
    await reseller.vm.delete(vmid).catch((error: unknown) => {
      // An earlier click has deleted it.
      if (!(error instanceof NotFoundError)) throw error;
    });
  }

  async function accessTo(vmid: number): Promise<Access> {
    const { config } = await reseller.vm.config(vmid);
    return { vmid, address: config.ipv4[0]?.ip_address ?? '', username: config.username, password: undefined };
  }
}

/** The hostname tells the VMs of two orders apart, also those of one service. */
function hostnameOf({ id, orderKey }: Service): string {
  return `service-${id}-${orderKey.slice(0, 8)}`;
}
