import type { CreditNote, Invoice, InvoiceLine } from '@reseller/operator-client';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';

import { unitsOf } from '../api/money.ts';
import { pagesOf, queryOf } from '../api/queries.ts';
import { AccountName, useAccountNames } from '../ui/AccountName.tsx';
import { ActionButton, ActionMenu } from '../ui/Actions.tsx';
import { Facts, Failure, Instant, Money, PageHead, Section, Status, Text } from '../ui/controls.tsx';
import { DataTable } from '../ui/DataTable.tsx';
import type { Column } from '../ui/DataTable.tsx';
import { FilteredList, useRows } from '../ui/list.tsx';
import { Bookkeeping } from './Bookkeeping.tsx';

export function Invoices() {
  const names = useAccountNames();
  const invoices = useRows(useInfiniteQuery(pagesOf('listInvoices', {})));
  const columns: readonly Column<Invoice>[] = [
    { header: 'Invoice', sortBy: ({ id, number }) => number ?? id, cell: ({ id, number }) => <Text value={number ?? id} /> },
    { header: 'Status', width: '8rem', sortBy: ({ status }) => status, cell: ({ status }) => <Status value={status} /> },
    {
      header: 'Account',
      wide: true,
      sortBy: ({ account_id }) => names.get(account_id) ?? '',
      cell: ({ account_id }) => <AccountName id={account_id} names={names} />,
    },
    {
      header: 'Period',
      width: '7rem',
      wide: true,
      sortBy: ({ period_start }) => period_start,
      cell: ({ period_start }) => period_start.slice(0, 7),
    },
    { header: 'Due', width: '8rem', wide: true, sortBy: ({ due }) => due, cell: ({ due }) => <Instant at={due} day /> },
    {
      header: 'Net (EUR)',
      width: '7.5rem',
      align: 'right',
      sortBy: ({ total }) => unitsOf(total),
      cell: ({ total }) => <Money amount={total} />,
    },
    {
      header: 'Unpaid, gross (EUR)',
      width: '8rem',
      align: 'right',
      wide: true,
      sortBy: ({ unpaid }) => (unpaid === null ? null : unitsOf(unpaid)),
      cell: ({ unpaid }) => <Money amount={unpaid} />,
    },
  ];
  return (
    <>
      <PageHead title="Invoices">
        <Bookkeeping />
      </PageHead>
      <FilteredList
        caption="Invoices"
        list={invoices}
        textOf={({ id, number, status, account_id, period_start }) =>
          `${id} ${number ?? ''} ${status} ${period_start} ${names.get(account_id) ?? ''}`
        }
        columns={columns}
        rowKey={({ id }) => id}
        href={({ id, number }) => `/invoices/${encodeURIComponent(number ?? id)}`}
        actions={(invoice) => <ActionMenu of={invoice.number ?? invoice.id} actions={invoiceActions(invoice)} />}
        empty={{ title: 'No month has ended yet', text: 'An invoice is closed at the end of a month in which an account was charged.' }}
      />
    </>
  );
}

function invoiceActions({ id, account_id, status, number, unpaid }: Invoice) {
  const common = { path: { invoice_id: id }, target: number ?? id };
  const payment = { amount: unpaid, reference: number ?? id, invoice_id: id, method: 'bank_transfer' };
  return [
    ...(status === 'OPEN' && unpaid !== null
      ? [{ id: 'recordPayment', path: { account_id }, target: common.target, current: payment } as const]
      : []),
    { id: 'markInvoicePaid', ...common },
    { id: 'createCreditNote', ...common },
    { id: 'cancelInvoice', ...common },
  ] as const;
}

const CREDIT_NOTES: readonly Column<CreditNote>[] = [
  { header: 'Credit note', width: '11rem', cell: ({ number, document }) => <a href={document}>{number}</a> },
  { header: 'Reason', cell: ({ reason }) => <Text value={reason} /> },
  { header: 'Created', width: '12rem', wide: true, cell: ({ created }) => <Instant at={created} /> },
  { header: 'Net (EUR)', width: '7rem', align: 'right', cell: ({ amount }) => <Money amount={amount} /> },
  { header: 'Gross (EUR)', width: '7rem', align: 'right', wide: true, cell: ({ gross }) => <Money amount={gross} /> },
];

const LINES: readonly Column<InvoiceLine>[] = [
  {
    header: 'Line',
    cell: ({ title, details }) => (
      <span className="ellipsis" title={details}>
        {title} <span className="muted">{details}</span>
      </span>
    ),
  },
  { header: 'Time', width: '21rem', wide: true, cell: ({ time }) => time },
  { header: 'Quantity', width: '9rem', align: 'right', wide: true, cell: ({ quantity }) => quantity },
  { header: 'VAT', width: '5rem', align: 'right', wide: true, cell: ({ vat_basis_points: rate }) => `${rate / 100} %` },
  { header: 'Net (EUR)', width: '7.5rem', align: 'right', cell: ({ amount }) => <Money amount={amount} /> },
];

export function InvoicePage({ id }: { readonly id: string }) {
  const names = useAccountNames();
  const { data: invoice, error } = useQuery(queryOf('getInvoice', { path: { invoice_id: id } }));
  return (
    <>
      <PageHead title={`Invoice ${invoice?.number ?? id}`} back={{ href: '/invoices', label: 'Invoices' }}>
        {invoice && (
          <a className="button" href={invoice.document} target="_blank" rel="noreferrer">
            Open the document (PDF)
          </a>
        )}
        {invoice && <ActionMenu of={invoice.number ?? id} actions={invoiceActions(invoice)} />}
      </PageHead>
      {error !== null && <Failure error={error} />}
      {invoice && (
        <div className="page">
          <Facts
            items={[
              ['Status', <Status key="status" value={invoice.status} />],
              ['Account', <AccountName key="account" id={invoice.account_id} names={names} />],
              ['Period', `${invoice.period_start.slice(0, 10)} to ${invoice.period_end.slice(0, 10)}`],
              ['Due', <Instant key="due" at={invoice.due} day />],
              ['Net (EUR)', <Money key="net" amount={invoice.total} />],
              ['VAT (EUR)', <Money key="vat" amount={invoice.vat} />],
              ['Gross (EUR)', <Money key="gross" amount={invoice.gross} strong />],
              ['Unpaid, gross (EUR)', <Money key="unpaid" amount={invoice.unpaid} />],
            ]}
          />
          {invoice.groups.map(({ title, lines }) => (
            <Section key={title} title={title}>
              <DataTable
                caption={title}
                columns={LINES}
                rows={lines}
                rowKey={(line) => JSON.stringify(line)}
                empty={{ title: 'No line', text: 'The document charges nothing of this kind.' }}
              />
            </Section>
          ))}
          <Section
            title="Credit notes"
            actions={<ActionButton id="createCreditNote" path={{ invoice_id: id }} target={invoice.number ?? id} />}
          >
            <DataTable
              caption="Credit notes"
              columns={CREDIT_NOTES}
              rows={invoice.credit_notes}
              rowKey={({ name }) => name}
              empty={{ title: 'No credit note', text: 'Create one to reduce what the account owes for this invoice.' }}
            />
          </Section>
        </div>
      )}
    </>
  );
}
