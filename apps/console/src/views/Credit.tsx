import type { AccountCurrentInvoice, CurrentPosition } from '@reseller/operator-client';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';

import { decimalOf, perSecond, sumOf } from '../api/money.ts';
import { queryOf } from '../api/queries.ts';
import { Failure, Figure, Instant, Money, Section } from '../ui/controls.tsx';
import { DataTable } from '../ui/DataTable.tsx';
import type { Column } from '../ui/DataTable.tsx';
import { ErrorBoundary } from '../ui/ErrorBoundary.tsx';
import { labelOf } from '../ui/Fields.tsx';

const MonthChart = lazy(async () => ({ default: (await import('./MonthChart.tsx')).MonthChart }));

/** The credit of an account, line by line, and its running invoice. */
export function Credit({ accountId }: { readonly accountId: string }) {
  const query = useQuery({ ...queryOf('getAccountCurrentInvoice', { path: { account_id: accountId } }), refetchInterval: 2_000 });
  const { data, error } = query;
  if (error) return <Failure error={error} />;
  if (!data) return <p className="muted">Loading</p>;
  return (
    <>
      <Section title="Credit">
        <CreditTable {...data} />
      </Section>
      <Section title="Running invoice">
        <RunningInvoice invoice={data} />
      </Section>
    </>
  );
}

function CreditTable({ credit }: AccountCurrentInvoice) {
  const lines: readonly (readonly [string, string, string, string])[] = [
    ['', 'Credit limit', credit.limit, 'What the account may owe at most'],
    ['+', 'Balance', credit.balance, 'Payments and credit notes that no invoice has used'],
    ['−', 'Unpaid invoices', credit.unpaid, 'Open invoices, net'],
    ['−', 'Estimate', credit.estimate, 'The running invoice at the end of its period, with the renewals until then'],
    ['−', 'Pending', credit.pending, 'Purchases that are being carried out'],
  ];
  return (
    <table className="sum" aria-label="Credit in EUR, net">
      <tbody>
        {lines.map(([sign, name, amount, explanation]) => (
          <tr key={name}>
            <td aria-hidden="true">{sign}</td>
            <th scope="row">
              {name}
              <span className="muted explanation">{explanation}</span>
            </th>
            <td className="right">
              <Money amount={amount} />
            </td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <td aria-hidden="true">=</td>
          <th scope="row">
            Remaining
            <span className="muted explanation">What the account may still spend</span>
          </th>
          <td className="right">
            <Money amount={credit.remaining} strong />
          </td>
        </tr>
      </tfoot>
    </table>
  );
}

export const POSITIONS: readonly Column<CurrentPosition>[] = [
  {
    header: 'Position',
    cell: ({ kind, subject }) => (
      <span className="ellipsis">
        {labelOf(kind)} {subject}
      </span>
    ),
  },
  { header: 'Type', width: '11rem', wide: true, cell: ({ type }) => type },
  { header: 'Start (UTC)', width: '12rem', wide: true, cell: ({ start }) => <Instant at={start} /> },
  {
    header: 'Stop',
    width: '10rem',
    wide: true,
    cell: ({ stop, kind }) => (stop === null && kind === 'vm' ? 'running' : <Instant at={stop} />),
  },
  {
    header: 'Net, 30 days (EUR)',
    width: '8rem',
    align: 'right',
    cell: ({ monthly_price }) => (monthly_price === null ? '' : <Money amount={monthly_price} />),
  },
  { header: 'Net (EUR)', width: '9rem', align: 'right', cell: ({ total }) => <Money amount={total} /> },
];

function RunningInvoice({ invoice }: { readonly invoice: AccountCurrentInvoice }) {
  const running = invoice.positions.flatMap(({ stop, monthly_price }) => (stop === null && monthly_price !== null ? [monthly_price] : []));
  const monthly = sumOf(running);
  return (
    <>
      <dl className="figures">
        <Figure name="So far, net" amount={invoice.total} id="running-total" />
        <Figure name="Estimate, net" amount={invoice.estimated_total} />
        <Figure name="Per second, net" amount={perSecond(monthly)} />
        <Figure name="Per 30 days, net" amount={decimalOf(monthly)} />
      </dl>
      <ErrorBoundary fallback={<p className="muted">This browser cannot draw the chart.</p>}>
        <Suspense fallback={<div className="chart" />}>
          <MonthChart invoice={invoice} />
        </Suspense>
      </ErrorBoundary>
      <DataTable
        caption="Positions of the running invoice"
        columns={POSITIONS}
        rows={invoice.positions}
        rowKey={({ kind, subject, type, start }) => `${kind} ${subject} ${type} ${start}`}
        empty={{ title: 'Nothing has been charged this month', text: 'A purchase of the account starts a position.' }}
      />
    </>
  );
}
