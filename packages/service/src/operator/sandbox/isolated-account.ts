import { sql } from 'kysely';

import { createAccount, issueKey } from '../../core/account/account.ts';
import { deleteLog } from '../../core/account/request-log.ts';
import { forgetEvents } from '../../core/events/feed.ts';
import { returnUnusedAddresses } from '../../core/vm/addresses.ts';
import { forgetMachines, removeForgotten } from '../../core/vm/forgotten.ts';
import { leaveNode } from '../../core/vm/placement.ts';
import { forgetVmData } from '../../core/vm/removed-data.ts';
import { DEFAULTS } from '../../generated/operator/facts.gen.ts';
import { euros } from '../../rules/money.ts';
import type { Db, RequestLog } from '../../store/store.ts';
import { accountOf } from '../account.ts';
import { toIssuedApiKey } from '../api-key.ts';
import type { ServiceOperation, StoreOperation } from '../operation.ts';
import { OperatorProblem } from '../problem.ts';

/** POST /sandbox/isolated-accounts */
export const createIsolatedAccount: StoreOperation<'createIsolatedAccount'> = {
  kind: 'store',
  async run({ db }, { body, now, runtime: { ports, mode } }) {
    const { name, credit_limit } = { ...DEFAULTS.CreateIsolatedAccountRequest, ...body };
    const accountId = await createAccount(db, ports, { name, creditLimit: euros(credit_limit) });
    await db.updateTable('accounts').set({ isolated: 1 }).where('id', '=', accountId).execute();
    const { id, key } = await issueKey(db, ports, accountId, { label: name, mode });
    return { account: await accountOf(db, accountId), api_key: await toIssuedApiKey(db, id, key, now) };
  },
};

/** DELETE /sandbox/isolated-accounts/{account_id} */
export const deleteIsolatedAccount: ServiceOperation<'deleteIsolatedAccount'> = {
  kind: 'service',
  async run({ path, sandbox, runtime }, record) {
    const forgotten = await runtime.store.commit(async ({ db }) => {
      const { account_id: id } = path;
      const account = await accountOf(db, id);
      if (!account.isolated)
        throw new OperatorProblem('wrong-state', `The account ${id} is not an isolated account. Only isolated accounts can be deleted.`);
      const machines = await forgetMachines(db, id);
      await deleteAccount(db, runtime.store.requestLog, id);
      await record(db, { before: account, after: null });
      return machines;
    });
    await sandbox.propagate();
    await removeForgotten(runtime, forgotten, 'The account was deleted');
    return undefined;
  },
};

/** Deletes the account and everything that belongs to it. Rows are deleted before the rows that they refer to. */
async function deleteAccount(db: Db, requestLog: RequestLog, id: string): Promise<void> {
  await deleteFaults(db, id);
  for (const vm of await db.selectFrom('vms').selectAll().where('account_id', '=', id).where('state', '!=', 'removed').execute()) {
    await leaveNode(db, vm.node, vm);
    // A test that makes and deletes many accounts must not run out of addresses.
    await returnUnusedAddresses(db, vm.id);
    await forgetVmData(db, vm.id);
  }
  const servers = db
    .selectFrom('dedicated_servers')
    .select('id')
    .where((server) => server.or([server('account_id', '=', id), server('offered_to', '=', id)]));
  await db.deleteFrom('dedicated_addresses').where('server_id', 'in', servers).execute();
  await db
    .deleteFrom('dedicated_servers')
    .where((server) => server.or([server('account_id', '=', id), server('offered_to', '=', id)]))
    .execute();
  await db
    .deleteFrom('dns_records')
    .where('domain', 'in', db.selectFrom('domains').select('name').where('account_id', '=', id))
    .execute();
  await db
    .deleteFrom('payment_uses')
    .where('payment_id', 'in', db.selectFrom('payments').select('id').where('account_id', '=', id))
    .execute();
  for (const table of [
    'domains',
    'handles',
    'positions',
    'charges',
    'document_parts',
    'issued_documents',
    'payments',
    'invoices',
    'billing_profiles',
    'vms',
    'otps',
    'idempotency_keys',
    'reservations',
    'failed_jobs',
  ] as const)
    await sql`delete from ${sql.table(table)} where account_id = ${id}`.execute(db);
  const sales = db.selectFrom('sales').select('id').where('account_id', '=', id);
  await db.deleteFrom('sale_prices').where('sale_id', 'in', sales).execute();
  await db.deleteFrom('sales').where('account_id', '=', id).execute();
  await db
    .deleteFrom('ip_addresses')
    .where('pool_id', 'in', db.selectFrom('ip_pools').select('id').where('account_id', '=', id))
    .execute();
  await db.deleteFrom('ip_pools').where('account_id', '=', id).execute();
  await db.deleteFrom('api_keys').where('account_id', '=', id).execute();
  const limits = db.selectFrom('spending_limits').select('id').where('account_id', '=', id);
  await db.deleteFrom('spendings').where('limit_id', 'in', limits).execute();
  await db.deleteFrom('spending_limits').where('account_id', '=', id).execute();
  await deleteLog(db, requestLog, id);
  await forgetEvents(db, id);
  await db.deleteFrom('accounts').where('id', '=', id).execute();
}

/** Deletes faults of the account's keys. A fault that also applies to other keys stays for those. */
async function deleteFaults(db: Db, accountId: string): Promise<void> {
  const keys = new Set((await db.selectFrom('api_keys').select('id').where('account_id', '=', accountId).execute()).map(({ id }) => id));
  for (const { id, api_key_ids } of await db
    .selectFrom('faults')
    .select(['id', 'api_key_ids'])
    .where('api_key_ids', 'is not', null)
    .execute()) {
    const named: string[] = JSON.parse(api_key_ids ?? '[]');
    const others = named.filter((key) => !keys.has(key));
    if (others.length === 0) await db.deleteFrom('faults').where('id', '=', id).execute();
    else if (others.length < named.length)
      await db
        .updateTable('faults')
        .set({ api_key_ids: JSON.stringify(others) })
        .where('id', '=', id)
        .execute();
  }
}
