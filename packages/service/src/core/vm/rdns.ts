/** The names that reverse DNS has for the addresses of a VM. */
import type { Ports } from '../../ports/ports.ts';
import { counted } from '../../rules/counted.ts';
import { Refusal } from '../../rules/refusal.ts';
import { addressOf, assignedOf, firstAddressOf, pointerOf, reverseZonesOf } from '../../rules/reverse-dns.ts';
import type { RdnsEntry } from '../../rules/reverse-dns.ts';
import type { Db } from '../../store/store.ts';
import { isForwardConfirmed } from '../domain/answers.ts';
import { cidrsOf, namesOf } from '../domain/reverse-zones.ts';
import { addressesOf } from './addresses.ts';

/** Addresses with names of their own in an IPv6 network of a VM (extension: POST /vm/{vmid}/rdns). */
const MAX_NAMES = 100;

/** A name, and whether the zones of the service give it the address. */
export interface CheckedName extends RdnsEntry {
  /** Null if the service cannot tell. */
  readonly forwardConfirmed: boolean | null;
}

/** The names of all addresses of a VM, and of those in its IPv6 network that have one. */
export async function rdnsOf(db: Db, { registrar }: Pick<Ports, 'registrar'>, vmId: number): Promise<CheckedName[]> {
  const entries = await namesOf(
    db,
    (await addressesOf(db, vmId)).map(({ address }) => address),
  );
  const checked: CheckedName[] = [];
  for (const entry of entries) {
    checked.push({ ...entry, forwardConfirmed: await isForwardConfirmed(db, entry, registrar.standardNameservers) });
  }
  return checked;
}

/** Whether the DNS has the reverse zones of a VM's addresses as they are in the store. */
export interface ReversePublication {
  readonly isPublished: boolean;
  /** Of the last failure. */
  readonly error: string | null;
}

export async function reversePublicationOf(db: Db, vmId: number): Promise<ReversePublication> {
  const assigned = (await addressesOf(db, vmId)).map(({ address }) => address);
  if (assigned.length === 0) return { isPublished: true, error: null };
  const cidrs = await cidrsOf(db);
  const zones = assigned.flatMap((address) => reverseZonesOf(address, cidrs));
  const names = await db.selectFrom('rdns_changes').select('id').where('address', 'in', assigned).executeTakeFirst();
  const changes = await db.selectFrom('zone_changes').select('reason').where('domain', 'in', zones).execute();
  return { isPublished: names === undefined && changes.length === 0, error: changes.find(({ reason }) => reason !== null)?.reason ?? null };
}

/** A name to set. */
export interface NewName {
  readonly vmId: number;
  /** An address of the VM, in any notation. Undefined for all addresses to which `default_ptr` applies. */
  readonly address?: string | undefined;
  /** Null to remove the name. */
  readonly domain: string | null;
}

/**
 * Sets or removes the name of an address.
 *
 * @returns False if the VM does not have the address.
 * @throws Refusal 409 if its IPv6 network has as many names as possible.
 */
export async function setName(db: Db, { clock }: Pick<Ports, 'clock'>, { vmId, address: text, domain }: NewName): Promise<boolean> {
  const addresses = text === undefined ? await firstAddressesOf(db, vmId) : [addressOf(text)];
  let isFound = false;
  for (const address of addresses) {
    if (address === undefined) continue;
    const assigned = assignedOf(address);
    if (!(await lockAddress(db, vmId, assigned))) continue;
    isFound = true;
    const entry = { address, assigned, vm_id: vmId, domain: domain === null ? null : pointerOf(domain), changed: clock.now() };
    // An address that `default_ptr` does not name has no name without a row.
    if (entry.domain === null && address !== firstAddressOf(assigned)) {
      await db.deleteFrom('rdns_entries').where('address', '=', address).execute();
      continue;
    }
    await assertNameable(db, entry);
    const { domain: name, changed } = entry;
    await db
      .insertInto('rdns_entries')
      .values(entry)
      .onConflict((conflict) => conflict.column('address').doUpdateSet({ domain: name, changed }))
      .execute();
  }
  return isFound;
}

async function firstAddressesOf(db: Db, vmId: number): Promise<string[]> {
  return (await addressesOf(db, vmId)).map(({ address }) => firstAddressOf(address));
}

/** Locks an address, so that it is not released before its name is stored. @returns False if it is not the VM's. */
async function lockAddress(db: Db, vmId: number, assigned: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('ip_addresses')
    .set({ pending: 0 })
    .where('address', '=', assigned)
    .where('vm_id', '=', vmId)
    .where('pending', '=', 0)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

async function assertNameable(db: Db, { address, assigned }: { readonly address: string; readonly assigned: string }): Promise<void> {
  if (address === firstAddressOf(assigned)) return;
  const others = await db
    .selectFrom('rdns_entries')
    .select('address')
    .where('assigned', '=', assigned)
    .where('address', 'not in', [address, firstAddressOf(assigned)])
    .execute();
  if (others.length < MAX_NAMES) return;
  throw new Refusal(
    409,
    'quota_exceeded',
    `The network ${assigned} has ${counted(MAX_NAMES, 'name')} besides that of its first address, and more are not possible. Remove one that is no longer used.`,
  );
}
