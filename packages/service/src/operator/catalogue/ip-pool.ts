import type { BrokenRule, DefineIpPoolRequest, IpPool } from '@reseller/operator-client';
import type { Selectable } from 'kysely';

import { accountExists } from '../../core/account/account.ts';
import { addIpPool } from '../../core/catalogue/ip-pool.ts';
import type { Db } from '../../store/store.ts';
import type { IpPoolsTable } from '../../store/tables/catalogue.ts';
import type { ReadOperation, StoreOperation } from '../operation.ts';
import { readPage } from '../paging.ts';
import type { Order } from '../paging.ts';
import { assertNoBrokenRules, OperatorProblem, requireFound } from '../problem.ts';
import { networksOverlap, parseNetwork } from './network.ts';

type Row = Selectable<IpPoolsTable>;

const order: Order = { columns: { id: 'text' }, direction: 'asc' };
/** Maximum number of addresses, or of /64 networks, in a pool. */
const MAX_POOL_ADDRESSES = 65_536n;

/** GET /ip-pools */
export const listIpPools: ReadOperation<'listIpPools'> = {
  kind: 'read',
  async run(db, { query }) {
    const pools = db.selectFrom('ip_pools').selectAll();
    const { rows, next_cursor } = await readPage(pools, order, query);
    const counts = await countAddresses(db, rows);
    return { items: rows.map((pool) => toIpPool(pool, counts)), next_cursor };
  },
};

/** GET /ip-pools/{ip_pool_id} */
export const getIpPool: ReadOperation<'getIpPool'> = {
  kind: 'read',
  run: async (db, { path }) => requireFound(await ipPoolOf(db, path.ip_pool_id), 'IP pool of this identifier'),
};

/** PUT /ip-pools/{ip_pool_id} */
export const defineIpPool: StoreOperation<'defineIpPool'> = {
  kind: 'store',
  lock: 'catalogue',
  before: (db, { path }) => ipPoolOf(db, path.ip_pool_id),
  async run({ db }, { path, body }) {
    assertNoBrokenRules(await brokenPoolRules(db, body));
    const { ip_pool_id: id } = path;
    const accountId = body.account_id ?? null;
    const { cidr } = parseNetwork(body.cidr) ?? body;
    const pools = await db.selectFrom('ip_pools').selectAll().execute();
    const existing = pools.find((pool) => pool.id === id);
    if (existing) {
      const same =
        parseNetwork(existing.cidr)?.cidr === cidr && existing.datacenter_name === body.datacenter && existing.account_id === accountId;
      if (!same) {
        const detail = `The pool ${id} is ${existing.cidr} of ${existing.datacenter_name}. Only its ddos_protection can be changed; choose another name for another network.`;
        throw new OperatorProblem('wrong-state', detail);
      }
      await db.updateTable('ip_pools').set({ ddos_protection: body.ddos_protection }).where('id', '=', id).execute();
    } else {
      const other = pools.find((pool) => networksOverlap(pool.cidr, cidr));
      if (other) throw new OperatorProblem('in-use', `${cidr} overlaps ${other.cidr} of the pool ${other.id}. Choose another network.`);
      await addIpPool(db, { id, datacenter: body.datacenter, accountId, cidr, ddosProtection: body.ddos_protection });
    }
    return requireFound(await ipPoolOf(db, id), 'IP pool of this identifier');
  },
};

async function brokenPoolRules(db: Db, { cidr, account_id: accountId }: DefineIpPoolRequest): Promise<BrokenRule[]> {
  const errors: BrokenRule[] = [];
  const network = parseNetwork(cidr);
  if (!network) errors.push({ pointer: '#/cidr', detail: 'must be an IPv4 subnet or an IPv6 network, such as 100.64.0.0/20' });
  else if (network.count < 1n)
    errors.push({ pointer: '#/cidr', detail: 'must be large enough for an address besides its gateway: /30, or /63 of IPv6, or larger' });
  else if (network.count > MAX_POOL_ADDRESSES)
    errors.push({ pointer: '#/cidr', detail: `must have at most ${MAX_POOL_ADDRESSES} addresses or /64 networks` });
  if (accountId && !(await accountExists(db, accountId)))
    errors.push({ pointer: '#/account_id', detail: 'must be the identifier of an account, or null' });
  return errors;
}

/** The addresses of pools, by identifier. */
type AddressCounts = ReadonlyMap<string, { readonly total: number; readonly used: number }>;

async function countAddresses(db: Db, pools: readonly Row[]): Promise<AddressCounts> {
  if (pools.length === 0) return new Map();
  const counts = await db
    .selectFrom('ip_addresses')
    .select(({ fn }) => ['pool_id', fn.countAll<number>().as('total'), fn.count<number>('vm_id').as('used')])
    .where(
      'pool_id',
      'in',
      pools.map(({ id }) => id),
    )
    .groupBy('pool_id')
    .execute();
  return new Map(counts.map((count) => [count.pool_id, count]));
}

async function ipPoolOf(db: Db, id: string): Promise<IpPool | undefined> {
  const pool = await db.selectFrom('ip_pools').selectAll().where('id', '=', id).executeTakeFirst();
  return pool && toIpPool(pool, await countAddresses(db, [pool]));
}

function toIpPool({ id, datacenter_name, account_id, cidr, ddos_protection, family, gateway }: Row, counts: AddressCounts): IpPool {
  const { total = 0, used = 0 } = counts.get(id) ?? {};
  return { id, datacenter: datacenter_name, account_id, cidr, ddos_protection, family, gateway, total, used };
}
