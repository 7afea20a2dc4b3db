/** What the provider does with dedicated servers: offers them, orders them for accounts, completes their set-up. */
import type {
  DedicatedDatacenter,
  DedicatedDisk,
  DedicatedIpv4,
  DedicatedMarketHardware,
  DedicatedMarketStatus,
  DedicatedNetwork,
} from '@reseller/client';
import { v7 as uuidv7 } from 'uuid';

import { enqueueSetUp } from './fleet.ts';
import { holdCredit } from '../accounting/credit-hold.ts';
import { deploy } from './life-cycle.ts';
import type { Services } from '../../delivery/runtime.ts';
import { assertAllowed, findServer, applyTransition } from './server.ts';
import type { ServerRow } from './server.ts';
import type { ServerAccess } from '../../ports/fleet.ts';
import { settle } from '../jobs/settle.ts';
import type { Ports } from '../../ports/ports.ts';
import { notFound, Refusal } from '../../rules/refusal.ts';
import { order } from '../../rules/dedicated.ts';
import type { Money } from '../../rules/money.ts';
import type { Db } from '../../store/store.ts';

/** A machine before it is on the market. */
export interface NewMarketServer {
  /** A new UUID where none is given. The server keeps it when it is ordered. */
  readonly identifier?: string;
  readonly datacenter: DedicatedDatacenter;
  readonly cpu: DedicatedMarketHardware['cpu'];
  readonly memory: DedicatedMarketHardware['memory'];
  readonly disks: readonly Omit<DedicatedDisk, 'total_size'>[];
  readonly network: DedicatedNetwork;
  readonly status: DedicatedMarketStatus;
  /** Addresses that come with the machine; the market says how many, its owner sees which. */
  readonly ipv4: readonly DedicatedIpv4[];
  /** Networks, in /64 notation for example. */
  readonly ipv6: readonly DedicatedIpv4[];
  /** Net price of one runtime. */
  readonly price: Money;
  readonly runtimeDays: number;
  /** The only account that it is offered to; all where none is given. */
  readonly offeredTo?: string | null;
  /** How many addresses it is offered with, where they are not known before its set-up; null for IPv6 networks without a number. */
  readonly offeredIps?: { readonly ipv4: number; readonly ipv6: number | null };
}

/**
 * Puts a machine on the market.
 *
 * @returns Its identifier.
 * @throws Refusal 409 when one of its addresses belongs to something else.
 */
export async function addMarketServer(db: Db, { clock, random }: Ports, server: NewMarketServer): Promise<string> {
  const now = clock.now();
  const id = server.identifier ?? uuidv7({ msecs: now, random: random.bytes(16) });
  const disks = server.disks.map((disk) => ({ ...disk, total_size: disk.amount * disk.size }));
  const hardware: DedicatedMarketHardware = { cpu: server.cpu, memory: server.memory, disks };
  await db
    .insertInto('dedicated_servers')
    .values({
      id,
      account_id: null,
      state: 'offered',
      terminated: 0,
      due: null,
      version: 0,
      datacenter_name: server.datacenter.name,
      datacenter_displayname: server.datacenter.displayname,
      datacenter_country: server.datacenter.country,
      datacenter_city: server.datacenter.city,
      hardware: JSON.stringify(hardware),
      network: JSON.stringify(server.network),
      status_type: server.status.type,
      status_description: server.status.description,
      price: Number(server.price),
      runtime_days: server.runtimeDays,
      hold: 0,
      dashboard: null,
      username: null,
      email: null,
      sealed_password: null,
      created: now,
      ordered: null,
      deployed: null,
      ended: null,
      offered_to: server.offeredTo ?? null,
      offered_ips: server.offeredIps ? JSON.stringify(server.offeredIps) : null,
    })
    .execute();
  await insertAddresses(db, id, server);
  return id;
}

/** The addresses of a machine. */
export type MachineAddresses = Pick<NewMarketServer, 'ipv4' | 'ipv6'>;

/**
 * Gives a machine other addresses than it had.
 *
 * @throws Refusal 409 when one of them belongs to something else.
 */
export async function replaceAddresses(db: Db, identifier: string, addresses: MachineAddresses): Promise<void> {
  await db.deleteFrom('dedicated_addresses').where('server_id', '=', identifier).execute();
  await insertAddresses(db, identifier, addresses);
}

async function insertAddresses(db: Db, identifier: string, { ipv4, ipv6 }: MachineAddresses): Promise<void> {
  const rows = [
    ...ipv4.map(({ address, gateway }, position) => ({ address, gateway, family: 4, position, server_id: identifier })),
    ...ipv6.map(({ address, gateway }, position) => ({ address, gateway, family: 6, position, server_id: identifier })),
  ];
  if (rows.length === 0) return;
  await assertFree(
    db,
    rows.map(({ address }) => address),
  );
  await db.insertInto('dedicated_addresses').values(rows).execute();
}

/** Which server, for whom. */
export interface DedicatedOrder {
  readonly identifier: string;
  readonly accountId: string;
}

/**
 * Orders a server of the market for an account; its set-up begins. The price of the first runtime
 * is held of the credit limit from now on, and charged when the set-up completes: until then the
 * account has nothing to pay for, and then it always fits.
 *
 * @throws Refusal 404 when there is no such server or account, 409 when it is not on the market any more, 402 when the credit limit has no room.
 */
export async function orderDedicatedServer(db: Db, services: Services, { identifier, accountId }: DedicatedOrder): Promise<void> {
  const { clock, fleet } = services.ports;
  const now = Math.floor(clock.now() / 1000);
  const server = await existing(db, identifier);
  const account = await db.selectFrom('accounts').select('id').where('id', '=', accountId).executeTakeFirst();
  if (!account) throw notFound('account');
  const setUpDue = fleet.automaticSetUp ? now + fleet.automaticSetUp.after : null;
  const ordered = await applyTransition(db, server, (state) => order(state, setUpDue), {
    account_id: accountId,
    ordered: now,
    hold: server.price,
  });
  assertAllowed(ordered, server.id);
  await settle(db, services, { accountId, now: clock.now() });
  await holdCredit(db, accountId, BigInt(server.price));
  await enqueueSetUp(db, services.ports, { identifier, accountId, datacenter: server.datacenter_name });
}

/**
 * Completes the set-up of an ordered server: it is deployed, and its first runtime begins now.
 *
 * @throws Refusal 404 when there is no such server, 409 when it is not being set up.
 */
export async function completeDedicatedSetUp(db: Db, services: Services, identifier: string, access: ServerAccess): Promise<void> {
  const { account_id: accountId } = await existing(db, identifier);
  const now = services.ports.clock.now();
  if (accountId !== null) await settle(db, services, { accountId, now });
  const server = await existing(db, identifier);
  assertAllowed(await deploy(db, services, server, { at: Math.floor(now / 1000), access }), server.id);
}

async function existing(db: Db, identifier: string): Promise<ServerRow> {
  const server = await findServer(db, identifier);
  if (!server || server.state === 'ended') throw notFound('dedicated server');
  return server;
}

async function assertFree(db: Db, addresses: readonly string[]): Promise<void> {
  if (addresses.length === 0) return;
  const taken =
    (await db.selectFrom('dedicated_addresses').select('address').where('address', 'in', addresses).executeTakeFirst()) ??
    (await db.selectFrom('ip_addresses').select('address').where('address', 'in', addresses).executeTakeFirst());
  if (taken)
    throw new Refusal(409, 'wrong_state', `The address ${taken.address} belongs to another server or to a pool. Choose a free one.`);
}
