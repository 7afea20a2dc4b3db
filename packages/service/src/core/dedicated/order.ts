/** How the provider offers dedicated servers, orders them for accounts, and completes their set-up. */
import type { ServerAccess } from '@reseller/adapters';
import type {
  DedicatedDatacenter,
  DedicatedDisk,
  DedicatedIpv4,
  DedicatedMarketHardware,
  DedicatedMarketStatus,
  DedicatedNetwork,
} from '@reseller/client';
import { v7 as uuidv7 } from 'uuid';

import type { Services } from '../../delivery/runtime.ts';
import type { Ports } from '../../ports/ports.ts';
import type { BrokenField } from '../../rules/broken-field.ts';
import { order } from '../../rules/dedicated.ts';
import type { Money } from '../../rules/money.ts';
import { invalid, Refusal } from '../../rules/refusal.ts';
import type { Db } from '../../store/store.ts';
import { accountExists } from '../account/account.ts';
import { assertMonthOf, monthOfServer } from '../accounting/credit-hold.ts';
import { holdRenewalsWithinLimit } from '../accounting/renewal-hold.ts';
import { settle } from '../jobs/settle.ts';
import { enqueueSetUp } from './fleet.ts';
import { deploy } from './life-cycle.ts';
import { assertAllowed, findServer, applyTransition } from './server.ts';
import type { ServerRow } from './server.ts';

/** A machine to offer on the market. */
export interface NewMarketServer {
  /** Default: a new UUID. The server keeps it when it is ordered. */
  readonly identifier?: string;
  readonly datacenter: DedicatedDatacenter;
  readonly cpu: DedicatedMarketHardware['cpu'];
  readonly memory: DedicatedMarketHardware['memory'];
  readonly disks: readonly Omit<DedicatedDisk, 'total_size'>[];
  readonly network: DedicatedNetwork;
  readonly status: DedicatedMarketStatus;
  /** Addresses of the machine. The market shows their number, and its owner sees the addresses. */
  readonly ipv4: readonly DedicatedIpv4[];
  /** IPv6 networks, such as 2001:db8::/64. */
  readonly ipv6: readonly DedicatedIpv4[];
  /** Net price of one runtime. */
  readonly price: Money;
  readonly runtimeDays: number;
  /** The only account that it is offered to. Default: all accounts. */
  readonly offeredTo?: string | null;
  /** Number of addresses, if they are not known before the set-up. Null for an unspecified number of IPv6 networks. */
  readonly offeredIps?: { readonly ipv4: number; readonly ipv6: number | null };
}

/**
 * Offers a machine on the market.
 *
 * @returns Its identifier.
 * @throws Refusal 409 if one of its addresses is already in use.
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
 * Replaces the addresses of a machine.
 *
 * @throws Refusal 409 if one of them is already in use, 422 if one occurs twice.
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
  assertDistinct(rows);
  await assertFree(
    db,
    rows.map(({ address }) => address),
  );
  await db.insertInto('dedicated_addresses').values(rows).execute();
}

/** The rule of the documents on what an order needs, for the message of a refusal. */
const ORDER_NEEDS = 'for its first runtime and the renewals that are due until the end of the month if the set-up completes at once';

export interface DedicatedOrder {
  readonly identifier: string;
  readonly accountId: string;
}

/**
 * Orders a server of the market for an account, and enqueues its set-up. The prices of the first runtime and of the renewals that would be
 * due in the open period are held now. The first runtime is charged when the set-up completes. So the account pays only for a server that it
 * can use, and the charges of this period always fit the credit limit.
 *
 * @throws Refusal 422 if the account does not exist or the server is not offered to it (fields have the names of the operator API), 409 if
 * the server is no longer on the market, 402 if the remaining credit does not suffice.
 */
export async function orderDedicatedServer(db: Db, services: Services, { identifier, accountId }: DedicatedOrder): Promise<void> {
  const { clock, fleet } = services.ports;
  const now = Math.floor(clock.now() / 1000);
  const broken: BrokenField[] = [];
  if (!(await accountExists(db, accountId)))
    broken.push({ field: 'account_id', rule: 'exists', message: 'must be the identifier of an account' });
  // The end of the server may be due.
  if (broken.length === 0) await settle(db, services, { accountId, now: clock.now() });
  const server = await findServer(db, identifier);
  const isOffered = server !== undefined && (server.offered_to === null || server.offered_to === accountId);
  if (!isOffered)
    broken.push({ field: 'market_id', rule: 'exists', message: 'must be the identifier of an offer that the account may order' });
  if (!isOffered || broken.length > 0) throw invalid(broken);
  if (server.state === 'ended') throw unknownServer(identifier);
  if (server.state === 'offered')
    await assertMonthOf(db, accountId, { added: () => monthOfServer(server), hosts: [], field: 'market_id', now: clock.now() });
  const setUpDue = fleet.automaticSetUp ? now + fleet.automaticSetUp.after : null;
  const ordered = await applyTransition(db, server, (state) => order(state, setUpDue), {
    account_id: accountId,
    ordered: now,
  });
  assertAllowed(ordered, server.id);
  await holdRenewalsWithinLimit(db, accountId, { server: server.id }, ORDER_NEEDS);
  await enqueueSetUp(db, services.ports, { identifier, accountId, datacenter: server.datacenter_name });
}

/**
 * Completes the set-up of an ordered server. Its first runtime begins now.
 *
 * @throws Refusal 404 if no account has the server, 409 if it is not being set up.
 */
export async function completeDedicatedSetUp(db: Db, services: Services, identifier: string, access: ServerAccess): Promise<void> {
  const { account_id: accountId } = await serverOfAnAccount(db, identifier);
  const now = services.ports.clock.now();
  if (accountId !== null) await settle(db, services, { accountId, now });
  // Settling may have changed the server.
  const server = await serverOfAnAccount(db, identifier);
  assertAllowed(await deploy(db, services, server, { at: Math.floor(now / 1000), access }), server.id);
}

async function serverOfAnAccount(db: Db, identifier: string): Promise<ServerRow> {
  const server = await findServer(db, identifier);
  if (server?.state !== 'ordered' && server?.state !== 'deployed') throw unknownServer(identifier);
  return server;
}

function unknownServer(identifier: string): Refusal {
  return new Refusal(404, 'not_found', `No account has the dedicated server ${identifier}. Check the identifier.`);
}

/** @throws Refusal 422 if an address occurs twice. Fields have the names of the operator API. */
function assertDistinct(rows: readonly { readonly address: string; readonly family: number; readonly position: number }[]): void {
  const repeated = rows.filter(({ address }, index) => rows.findIndex((row) => row.address === address) < index);
  if (repeated.length === 0) return;
  throw invalid(
    repeated.map(({ family, position }) => ({
      field: `ipv${family}/${position}/address`,
      rule: 'distinct',
      message: 'must differ from all others',
    })),
  );
}

async function assertFree(db: Db, addresses: readonly string[]): Promise<void> {
  if (addresses.length === 0) return;
  const taken =
    (await db.selectFrom('dedicated_addresses').select('address').where('address', 'in', addresses).executeTakeFirst()) ??
    (await db.selectFrom('ip_addresses').select('address').where('address', 'in', addresses).executeTakeFirst());
  if (taken)
    throw new Refusal(409, 'wrong_state', `The address ${taken.address} belongs to another server or to a pool. Choose a free address.`);
}
