import type { MarketItem } from '@reseller/operator-client';

import { accountExists } from '../../core/account/account.ts';
import { addMarketServer } from '../../core/dedicated/order.ts';
import { addressesOfServers, datacenterOf, hardwareOf, networkOfServer, offeredIps } from '../../core/dedicated/responses.ts';
import type { ServerRow } from '../../core/dedicated/server.ts';
import { decimalOf, euros } from '../../rules/money.ts';
import type { Db } from '../../store/store.ts';
import type { ReadOperation, StoreOperation } from '../operation.ts';
import { readPage } from '../paging.ts';
import type { Order } from '../paging.ts';
import { validationProblem } from '../problem.ts';

const order: Order = { columns: { created: 'integer', id: 'text' }, direction: 'desc' };

/** GET /dedicated/market */
export const listMarketItems: ReadOperation<'listMarketItems'> = {
  kind: 'read',
  async run(db, { query }) {
    const servers = db.selectFrom('dedicated_servers').selectAll().where('state', '=', 'offered');
    const { rows, next_cursor } = await readPage(servers, order, query);
    return { items: await toMarketItems(db, rows), next_cursor };
  },
};

/** POST /dedicated/market: its addresses are set when the set-up completes. */
export const addMarketItem: StoreOperation<'addMarketItem'> = {
  kind: 'store',
  async run({ db }, { body, runtime: { ports } }) {
    const offeredTo = body.account_id ?? null;
    if (offeredTo !== null && !(await accountExists(db, offeredTo)))
      throw validationProblem([{ pointer: '#/account_id', detail: 'must be the identifier of an account, or null' }]);
    const { traffic } = body;
    const id = await addMarketServer(db, ports, {
      datacenter: body.datacenter,
      cpu: body.cpu,
      memory: { ...body.memory, unit: 'GB' },
      disks: body.disks.map((disk) => ({ ...disk, unit: 'GB' })),
      network: {
        traffic: traffic ? { limit: true, ...traffic } : { limit: false, amount: null, unit: null },
        connection: body.connection,
      },
      status: body.status,
      ipv4: [],
      ipv6: [],
      price: euros(body.price),
      runtimeDays: body.runtime_days,
      offeredTo,
      offeredIps: { ipv4: body.ipv4_addresses, ipv6: body.ipv6_networks },
    });
    const server = await db.selectFrom('dedicated_servers').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
    return toMarketItem(server, offeredIps(server, { ipv4: [], ipv6: [] }));
  },
};

async function toMarketItems(db: Db, servers: readonly ServerRow[]): Promise<MarketItem[]> {
  const addresses = await addressesOfServers(db, servers);
  return servers.map((server) => toMarketItem(server, offeredIps(server, addresses.get(server.id) ?? { ipv4: [], ipv6: [] })));
}

function toMarketItem(server: ServerRow, { ipv4, ipv6 }: ReturnType<typeof offeredIps>): MarketItem {
  const { cpu, memory, disks } = hardwareOf(server);
  const { traffic, connection } = networkOfServer(server);
  return {
    id: server.id,
    datacenter: datacenterOf(server),
    cpu,
    memory: { size: memory.size, type: memory.type },
    disks: disks.map(({ amount, size, type }) => ({ amount, size, type })),
    ipv4_addresses: ipv4,
    ipv6_networks: ipv6,
    traffic: traffic.limit && traffic.amount !== null && traffic.unit !== null ? { amount: traffic.amount, unit: traffic.unit } : null,
    connection,
    status: { type: server.status_type, description: server.status_description },
    price: decimalOf(BigInt(server.price)),
    runtime_days: server.runtime_days,
    account_id: server.offered_to,
  };
}
