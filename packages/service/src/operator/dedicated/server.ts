import type { DedicatedServer, ServerAddress } from '@reseller/operator-client';
import { sql } from 'kysely';

import { completeDedicatedSetUp, orderDedicatedServer as placeOrder, replaceAddresses } from '../../core/dedicated/order.ts';
import { addressesOfServers, datacenterOf } from '../../core/dedicated/responses.ts';
import { findServer, stateOf } from '../../core/dedicated/server.ts';
import type { ServerRow } from '../../core/dedicated/server.ts';
import { DEFAULTS } from '../../generated/operator/facts.gen.ts';
import { secondsToInstant } from '../../rules/instants.ts';
import { decimalOf } from '../../rules/money.ts';
import type { Db } from '../../store/store.ts';
import { assertNotErased, lockedAccountOf } from '../account.ts';
import { parseNetwork } from '../catalogue/network.ts';
import type { ReadOperation, StoreOperation } from '../operation.ts';
import { readPage } from '../paging.ts';
import type { Order } from '../paging.ts';
import { assertNoBrokenRules, requireFound } from '../problem.ts';

const byOrder: Order = { columns: { ordered: 'integer', id: 'text' }, direction: 'desc' };
const ALL = sql<boolean>`1 = 1`;

/** GET /dedicated/servers: the servers that accounts have. A server that has ended is not listed. */
export const listDedicatedServers: ReadOperation<'listDedicatedServers'> = {
  kind: 'read',
  async run(db, { query }) {
    const { account_id: account, deployed } = query;
    const servers = db
      .selectFrom('dedicated_servers')
      .selectAll()
      .where('state', 'in', ['ordered', 'deployed'])
      .where(({ eb }) => (account === undefined ? ALL : eb('account_id', '=', account)))
      .where(({ eb }) => (deployed === undefined ? ALL : eb('state', '=', deployed ? 'deployed' : 'ordered')));
    const { rows, next_cursor } = await readPage(servers, byOrder, query);
    const addresses = await addressesOfServers(db, rows);
    return { items: rows.map((server) => toDedicatedServer(server, addresses)), next_cursor };
  },
};

/** GET /dedicated/servers/{server_id}: a server that no account has is not found. */
export const getDedicatedServer: ReadOperation<'getDedicatedServer'> = {
  kind: 'read',
  async run(db, { path }) {
    const server = await findServer(db, path.server_id.toLowerCase());
    const isOwned = server?.state === 'ordered' || server?.state === 'deployed';
    return describeServer(db, requireFound(isOwned ? server : undefined, 'dedicated server of this identifier'));
  },
};

/** POST /dedicated/servers */
export const orderDedicatedServer: StoreOperation<'orderDedicatedServer'> = {
  kind: 'store',
  async run({ db }, { body, runtime }) {
    const [accountId, identifier] = [body.account_id.toLowerCase(), body.market_id.toLowerCase()];
    const account = await db.selectFrom('accounts').select('id').where('id', '=', accountId).executeTakeFirst();
    if (account) assertNotErased(await lockedAccountOf(db, accountId));
    await placeOrder(db, runtime, { identifier, accountId });
    return serverOf(db, identifier);
  },
};

/** POST /dedicated/servers/{server_id}/complete-setup */
export const completeDedicatedSetup: StoreOperation<'completeDedicatedSetup'> = {
  kind: 'store',
  async before(db, { path }) {
    const server = await findServer(db, path.server_id);
    return server && server.account_id !== null ? describeServer(db, server) : null;
  },
  async run({ db }, { path, body, runtime }) {
    const { management, ipv4, ipv6 } = { ...DEFAULTS.CompleteDedicatedSetupRequest, ...body };
    assertNoBrokenRules(
      ipv6.flatMap(({ address }, index) =>
        parseNetwork(address) ? [] : [{ pointer: `#/ipv6/${index}/address`, detail: 'must be an IPv6 network such as 2001:db8::/64' }],
      ),
    );
    const id = path.server_id.toLowerCase();
    await completeDedicatedSetUp(db, runtime, id, management);
    const networks = ipv6.map(({ address, gateway }) => ({ address: parseNetwork(address)?.cidr ?? address, gateway }));
    await replaceAddresses(db, id, { ipv4, ipv6: networks });
    return serverOf(db, id);
  },
};

async function serverOf(db: Db, id: string): Promise<DedicatedServer> {
  return describeServer(db, requireFound(await findServer(db, id), 'dedicated server of this identifier'));
}

async function describeServer(db: Db, server: ServerRow): Promise<DedicatedServer> {
  return toDedicatedServer(server, await addressesOfServers(db, [server]));
}

function toDedicatedServer(server: ServerRow, addresses: Awaited<ReturnType<typeof addressesOfServers>>): DedicatedServer {
  const state = stateOf(server);
  const deployed = state.phase === 'deployed';
  const { ipv4 = [], ipv6 = [] } = deployed ? (addresses.get(server.id) ?? {}) : {};
  if (server.account_id === null || server.ordered === null) throw new Error(`The dedicated server ${server.id} has no account.`);
  return {
    id: server.id,
    account_id: server.account_id,
    market_id: server.id,
    datacenter: datacenterOf(server),
    deployed,
    terminated: deployed && state.terminated,
    renew: deployed ? secondsToInstant(state.renew) : null,
    price: decimalOf(BigInt(server.price)),
    runtime_days: server.runtime_days,
    ipv4: addressesIn(ipv4),
    ipv6: addressesIn(ipv6),
    ordered: secondsToInstant(server.ordered),
  };
}

/** The properties are optional in the reseller document. The store always has both. */
function addressesIn(listed: readonly Partial<ServerAddress>[]): ServerAddress[] {
  return listed.flatMap(({ address, gateway }) => (address === undefined || gateway === undefined ? [] : [{ address, gateway }]));
}
