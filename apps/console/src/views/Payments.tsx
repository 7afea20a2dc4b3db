import type { Payment } from '@reseller/operator-client';
import { useInfiniteQuery } from '@tanstack/react-query';

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
  const columns: readonly Column<Payment>[] = [
    {
      header: 'Payment',
      cell: ({ name, reference }) => <Text value={name} title={reference} />,
    },
    { header: 'Kind', width: '8rem', cell: ({ kind, reversed }) => <Status value={reversed === null ? kind : 'reversed'} /> },
    { header: 'Account', width: '12rem', wide: true, cell: ({ account_id }) => <AccountName id={account_id} names={names} /> },
    { header: 'Date', width: '7.5rem', wide: true, cell: ({ date }) => date },
    {
      header: 'Pays',
      width: '12rem',
      wide: true,
      cell: ({ pays }) => (
        <span className="ellipsis">{pays.map(({ invoice_id, refund_id }) => invoice_id ?? refund_id ?? '').join(', ')}</span>
      ),
    },
    { header: 'Amount (EUR)', width: '7.5rem', align: 'right', cell: ({ amount }) => <Money amount={amount} /> },
    { header: 'Unused (EUR)', width: '7rem', align: 'right', wide: true, cell: ({ unused }) => <Money amount={unused} /> },
  ];
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
        columns={columns}
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
