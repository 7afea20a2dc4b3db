import type { Payment } from '@reseller/operator-client';
import { useInfiniteQuery } from '@tanstack/react-query';

import { unitsOf } from '../api/money.ts';
import { pagesOf } from '../api/queries.ts';
import { AccountName, useAccountNames } from '../ui/AccountName.tsx';
import { ActionButton, ActionMenu } from '../ui/Actions.tsx';
import { Money, PageHead, Status, Text } from '../ui/controls.tsx';
import type { Column } from '../ui/DataTable.tsx';
import { FilteredList, useRows } from '../ui/list.tsx';

/** Payments and refunds, with the invoices that each pays. */
export function Payments() {
  const names = useAccountNames();
  const payments = useRows(useInfiniteQuery(pagesOf('listPayments', {})));
  return (
    <>
      <PageHead title="Payments">
        <ActionButton id="recordPayment" />
        <ActionButton id="recordRefund" />
      </PageHead>
      <FilteredList
        caption="Payments"
        list={payments}
        textOf={({ name, reference, account_id, method, date }) => `${name} ${reference} ${method} ${date} ${names.get(account_id) ?? ''}`}
        columns={paymentColumns(names)}
        rowKey={({ id }) => id}
        actions={({ name, account_id, kind, reversed }) => (
          <ActionMenu
            of={name}
            actions={
              kind === 'payment' && reversed === null ? [{ id: 'reversePayment', path: { account_id, payment: name }, target: name }] : []
            }
          />
        )}
        empty={{ title: 'No payment has been recorded', text: 'Record one when an account pays. It pays the invoices that are due first.' }}
      />
    </>
  );
}

function paymentColumns(names: ReadonlyMap<string, string>): readonly Column<Payment>[] {
  return [
    {
      header: 'Payment',
      sortBy: ({ name }) => name,
      cell: ({ name, reference }) => <Text value={name} title={reference} />,
    },
    {
      header: 'Kind',
      width: '8rem',
      sortBy: ({ kind }) => kind,
      cell: ({ kind, reversed }) => <Status value={reversed === null ? kind : 'reversed'} />,
    },
    {
      header: 'Account',
      width: '12rem',
      wide: true,
      sortBy: ({ account_id }) => names.get(account_id) ?? '',
      cell: ({ account_id }) => <AccountName id={account_id} names={names} />,
    },
    { header: 'Date', width: '7.5rem', wide: true, sortBy: ({ date }) => date, cell: ({ date }) => date },
    {
      header: 'Pays',
      width: '12rem',
      wide: true,
      cell: ({ pays }) => (
        <span className="ellipsis">{pays.map(({ invoice_id, refund_id }) => invoice_id ?? refund_id ?? '').join(', ')}</span>
      ),
    },
    {
      header: 'Amount (EUR)',
      width: '7.5rem',
      align: 'right',
      sortBy: ({ amount }) => unitsOf(amount),
      cell: ({ amount }) => <Money amount={amount} />,
    },
    {
      header: 'Unused (EUR)',
      width: '7rem',
      align: 'right',
      wide: true,
      sortBy: ({ unused }) => unitsOf(unused),
      cell: ({ unused }) => <Money amount={unused} />,
    },
  ];
}
