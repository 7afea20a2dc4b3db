/**
 * Domains. The name of a domain identifies its order, because no registry sells it twice. The order belongs to the service of one customer. It has
 * bought the domain whose contact it made, and not any domain of the account.
 */
import { hash } from 'node:crypto';

import { NotFoundError } from '@reseller/client/extension';
import type { AddDomainDnsForm, CreateHandleForm, DnsRecord, DomainDetails, SetDomainNameserversForm } from '@reseller/client/extension';

import type { Order } from './orders.ts';
import { maxDomainPrice } from './packages.ts';
import { provide, recover } from './purchase.ts';
import type { Panel, Product } from './purchase.ts';

/** A domain that a customer orders. */
interface WantedDomain {
  readonly service: string;
  readonly name: string;
  readonly contact: CreateHandleForm;
  /** Of the present registrar, for a transfer. */
  readonly authcode?: string | undefined;
}

/** The data of the client area. */
export interface DomainArea {
  readonly status: string;
  /** When it is renewed, or ends if it is cancelled. */
  readonly expires: string;
  readonly cancelled: boolean;
  /** Whether no other registrar can get it. */
  readonly locked: boolean;
  readonly nameservers: readonly string[];
  readonly owner: string;
}

export async function isAvailable({ reseller }: Panel, name: string): Promise<boolean> {
  return (await reseller.domain.check(name)).available;
}

/** Registers a domain for the service of a customer, or transfers it with the auth code of its present registrar. */
export async function registerDomain(panel: Panel, { service, name, contact, authcode }: WantedDomain): Promise<DomainArea> {
  maxDomainPrice(name);
  let order = panel.orders.order(name, service);
  if (order.resource !== null && (await findDomain(panel, name)) === undefined) {
    // It has left the account since, or the registry refused it, so this is a new order.
    panel.orders.terminate(order);
    order = panel.orders.order(name, service);
  }
  if (order.product !== service) throw new Error(`The domain ${name} was ordered by the service ${order.product}. Sell another one.`);
  await provide(panel, order, domainOf(panel, order, contact, authcode));
  return domainArea(panel, name);
}

export async function domainArea(panel: Panel, name: string): Promise<DomainArea> {
  const { domain, timings, nameserver, handle } = await panel.reseller.domain.info(soldDomain(panel, name));
  const nameservers = Object.values(nameserver).filter((one) => one !== null);
  return {
    status: domain.status,
    expires: timings.expire,
    cancelled: domain.terminated,
    locked: domain.transfer_lock ?? false,
    nameservers,
    owner: handle.ownerC,
  };
}

/**
 * Renews a domain for the year after a date.
 *
 * @param expires When it expires without the renewal, such as 2027-11-10. If it expires later, an earlier click has renewed it.
 */
export async function renewDomain(panel: Panel, name: string, expires: string): Promise<DomainArea> {
  const area = await domainArea(panel, name);
  if (!area.expires.startsWith(`${expires} `)) return area;
  const form = { expire: expires, max_price: maxDomainPrice(name) };
  const { domain } = panel.reseller;
  await domain.renew(name, form, { idempotencyKey: `panel-renew-${name}-${expires}` }).catch((error: unknown) => recover(panel, error));
  return domainArea(panel, name);
}

/** Changes the contact of a domain in all roles, its owner included. */
export async function changeContact(panel: Panel, name: string, contact: CreateHandleForm): Promise<void> {
  await panel.reseller.domain.setHandle(soldDomain(panel, name), { handle: await handleOf(panel, panel.orders.find(name), contact) });
}

export async function setNameservers(panel: Panel, name: string, nameservers: SetDomainNameserversForm): Promise<void> {
  await panel.reseller.domain.setNameservers(soldDomain(panel, name), nameservers);
}

export async function records(panel: Panel, name: string): Promise<readonly DnsRecord[]> {
  return panel.reseller.domain.dns.list(soldDomain(panel, name));
}

export async function addRecord(panel: Panel, name: string, record: AddDomainDnsForm): Promise<DnsRecord> {
  return panel.reseller.domain.dns.add(soldDomain(panel, name), record);
}

export async function editRecord(panel: Panel, name: string, recordId: string, data: string): Promise<DnsRecord> {
  return panel.reseller.domain.dns.edit(soldDomain(panel, name), recordId, { data });
}

export async function removeRecord(panel: Panel, name: string, recordId: string): Promise<void> {
  await panel.reseller.domain.dns.remove(soldDomain(panel, name), recordId);
}

/** Locks a domain against transfers, or unlocks it. */
export async function setLock(panel: Panel, name: string, isLocked: boolean): Promise<void> {
  await panel.reseller.domain.setTransferLock(soldDomain(panel, name), { transfer_lock: isLocked });
}

/** The code with which the customer takes the domain to another registrar. */
export async function authCode(panel: Panel, name: string): Promise<string> {
  return (await panel.reseller.domain.requestAuthcode(soldDomain(panel, name))).authcode;
}

/** Ends the domain at the end of its term. */
export async function cancel(panel: Panel, name: string): Promise<void> {
  if (!(await domainArea(panel, name)).cancelled) await panel.reseller.domain.delete(name);
}

export async function undelete(panel: Panel, name: string): Promise<void> {
  if ((await domainArea(panel, name)).cancelled) await panel.reseller.domain.undelete(name);
}

/** @throws Error if no order of this panel has bought the domain. The account may have domains of other panels and of the provider. */
function soldDomain({ orders }: Panel, name: string): string {
  const { resource, state } = orders.find(name);
  if (resource !== name || state === 'terminated') throw new Error(`The order ${name} is ${state} and has no domain.`);
  return name;
}

function domainOf(panel: Panel, order: Order, contact: CreateHandleForm, authcode: string | undefined): Product<void> {
  const { domain } = panel.reseller;
  return {
    async buy() {
      const handle = await handleOf(panel, order, contact);
      const form = { domain: order.id, handle, max_price: maxDomainPrice(order.id), ...(authcode !== undefined && { authcode }) };
      await domain.register(form, { idempotencyKey: order.key }).catch((error: unknown) => recover(panel, error));
      return { resource: order.id, bought: undefined };
    },
    async find() {
      const found = await findDomain(panel, order.id);
      return found && panel.orders.hasContact(order, found.handle.ownerC) ? order.id : undefined;
    },
    remove: (name) => cancel(panel, name),
  };
}

/** Makes a handle of an order, and stores it before it is used. The same contact data gets the same one, however often the customer clicks. */
async function handleOf({ reseller, orders }: Panel, order: Order, contact: CreateHandleForm): Promise<string> {
  const idempotencyKey = `panel-contact-${order.key}-${hash('sha256', JSON.stringify(contact))}`;
  const { handle } = await reseller.domain.handle.create(contact, { idempotencyKey });
  orders.addContact(order, handle);
  return handle;
}

async function findDomain({ reseller }: Panel, name: string): Promise<DomainDetails | undefined> {
  try {
    return await reseller.domain.info(name);
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  }
}
