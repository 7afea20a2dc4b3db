import type { Account } from '@reseller/operator-client';
import type { Selectable } from 'kysely';

import { createAccount as addAccount } from '../core/account/account.ts';
import { setQuotas } from '../core/account/quota.ts';
import { toInstant, toInstantOrNull } from '../rules/instants.ts';
import { decimalOf, euros } from '../rules/money.ts';
import { readDefaultQuotas } from '../store/settings.ts';
import type { Db } from '../store/store.ts';
import type { AccountsTable } from '../store/tables/accounts.ts';
import { hasResources } from './account-filter.ts';
import type { ReadOperation, StoreOperation } from './operation.ts';
import { readPage } from './paging.ts';
import type { Order } from './paging.ts';
import { notFound, OperatorProblem, requireFound } from './problem.ts';

const order: Order = { columns: { created: 'integer', id: 'text' }, direction: 'asc' };

/** GET /accounts */
export const listAccounts: ReadOperation<'listAccounts'> = {
  kind: 'read',
  async run(db, { query }) {
    const accounts = db
      .selectFrom('accounts')
      .selectAll()
      .where((eb) => hasResources(eb, query));
    const { rows, next_cursor } = await readPage(accounts, order, query);
    return { items: rows.map(toAccount), next_cursor };
  },
};

/** GET /accounts/{account_id} */
export const getAccount: ReadOperation<'getAccount'> = {
  kind: 'read',
  run: (db, { path }) => accountOf(db, path.account_id),
};

/** POST /accounts */
export const createAccount: StoreOperation<'createAccount'> = {
  kind: 'store',
  async run({ db }, { runtime: { ports, mode }, body }) {
    const id = await addAccount(db, ports, { name: body.name, creditLimit: euros(body.credit_limit) });
    await setQuotas(db, id, await readDefaultQuotas(db, mode));
    return accountOf(db, id);
  },
};

/** PUT /accounts/{account_id}/credit-limit */
export const setCreditLimit: StoreOperation<'setCreditLimit'> = {
  kind: 'store',
  before: (db, { path }) => lockedAccountOf(db, path.account_id),
  async run({ db }, { path, body }) {
    const account = await db
      .updateTable('accounts')
      .set({ credit_limit: Number(euros(body.credit_limit)) })
      .where('id', '=', path.account_id)
      .returningAll()
      .executeTakeFirst();
    if (!account) throw notFound('account of this identifier');
    return toAccount(account);
  },
};

/** @throws OperatorProblem 404 if the account does not exist. */
export async function accountOf(db: Db, id: string): Promise<Account> {
  const account = await db.selectFrom('accounts').selectAll().where('id', '=', id).executeTakeFirst();
  return toAccount(requireFound(account, 'account of this identifier'));
}

/** @throws OperatorProblem 409 if the personal data of the account was erased. Such an account must not get new data. */
export function assertNotErased({ id, erased_at }: Account): void {
  if (erased_at === null) return;
  throw new OperatorProblem('wrong-state', `The account ${id} was erased, so it cannot be used again. Create a new account.`);
}

/**
 * Like `accountOf`, but locks the account until the transaction ends. So the audit gets the state that the change replaced.
 *
 * @throws OperatorProblem 404 if the account does not exist.
 */
export async function lockedAccountOf(db: Db, id: string): Promise<Account> {
  const account = await db
    .updateTable('accounts')
    .set(({ ref }) => ({ held: ref('held') }))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
  return toAccount(requireFound(account, 'account of this identifier'));
}

function toAccount({
  id,
  name,
  credit_limit,
  unpaid,
  balance,
  max_vms,
  max_handles,
  max_records,
  suspended_at,
  suspension_reason,
  erased_at,
  isolated,
  created,
}: Selectable<AccountsTable>): Account {
  return {
    id,
    name,
    credit_limit: decimalOf(BigInt(credit_limit)),
    unpaid: decimalOf(BigInt(unpaid)),
    balance: decimalOf(BigInt(balance)),
    quotas: { vms: max_vms, handles: max_handles, records_per_domain: max_records },
    suspended_at: toInstantOrNull(suspended_at),
    suspension_reason,
    erased_at: toInstantOrNull(erased_at),
    isolated: isolated === 1,
    created: toInstant(created),
  };
}
