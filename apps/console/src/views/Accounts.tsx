import type { Account } from '@reseller/operator-client';

import { unitsOf } from '../api/money.ts';
import { useAccounts } from '../ui/AccountName.tsx';
import { ActionButton, ActionMenu } from '../ui/Actions.tsx';
import { Instant, Money, PageHead, Status, Text } from '../ui/controls.tsx';
import type { Column } from '../ui/DataTable.tsx';
import { FilteredList } from '../ui/list.tsx';

const COLUMNS: readonly Column<Account>[] = [
  { header: 'Account', sortBy: ({ name }) => name, cell: ({ name }) => <Text value={name} /> },
  { header: 'State', width: '8rem', sortBy: stateOf, cell: (account) => <Status value={stateOf(account)} /> },
  {
    header: 'Credit limit, net (EUR)',
    width: '8.5rem',
    align: 'right',
    wide: true,
    sortBy: ({ credit_limit }) => unitsOf(credit_limit),
    cell: ({ credit_limit }) => <Money amount={credit_limit} />,
  },
  {
    header: 'Unpaid, net (EUR)',
    width: '7.5rem',
    align: 'right',
    sortBy: ({ unpaid }) => unitsOf(unpaid),
    cell: ({ unpaid }) => <Money amount={unpaid} />,
  },
  {
    header: 'Balance, gross (EUR)',
    width: '7.5rem',
    align: 'right',
    wide: true,
    sortBy: ({ balance }) => unitsOf(balance),
    cell: ({ balance }) => <Money amount={balance} />,
  },
  { header: 'Created', width: '7.5rem', wide: true, sortBy: ({ created }) => created, cell: ({ created }) => <Instant at={created} day /> },
];

export function stateOf({ erased_at, suspended_at, isolated }: Account): string {
  if (erased_at !== null) return 'erased';
  if (suspended_at !== null) return 'suspended';
  return isolated ? 'isolated' : 'active';
}

export function Accounts() {
  const accounts = useAccounts();
  return (
    <>
      <PageHead title="Accounts">
        <ActionButton id="createIsolatedAccount" label="New isolated account" />
        <ActionButton id="createAccount" label="New account" />
      </PageHead>
      <FilteredList
        caption="Accounts"
        list={accounts}
        textOf={({ name, id }) => `${name} ${id}`}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        href={({ id }) => `/accounts/${id}`}
        actions={(account) => <ActionMenu of={account.name} actions={accountActions(account)} />}
        empty={{ title: 'There is no account', text: 'Create one, then issue an API key for it on its page.' }}
      />
    </>
  );
}

export function accountActions(account: Account) {
  const common = { path: { account_id: account.id }, target: account.name };
  return [
    { id: 'issueApiKey', ...common },
    { id: 'setCreditLimit', ...common },
    { id: 'setQuotas', ...common, part: 'quotas' },
    { id: 'recordPayment', ...common },
    { id: 'recordRefund', ...common },
    account.suspended_at === null ? ({ id: 'suspendAccount', ...common } as const) : ({ id: 'unsuspendAccount', ...common } as const),
    { id: 'eraseAccount', ...common },
    ...(account.isolated ? [{ id: 'deleteIsolatedAccount', ...common } as const] : []),
  ] as const;
}
