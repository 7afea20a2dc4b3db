import type { Account, AccountCurrentInvoice } from '@reseller/operator-client';
import { getAccountCurrentInvoice } from '@reseller/operator-client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { client } from '../api/client.ts';
import { decimalOf, grouped, sumOf, unitsOf } from '../api/money.ts';
import { AccountName, useAccountNames, useAccounts } from '../ui/AccountName.tsx';
import { Button, Failure, Figure, Money, Section } from '../ui/controls.tsx';
import { DataTable } from '../ui/DataTable.tsx';

const ROWS = 10;
/** The running invoice of each account is a request. With more accounts, they are read only when it is asked for. */
const MOST_UNASKED = 100;
const CONCURRENT = 4;

/** The running invoices of all accounts together. */
export function MonthOfAll() {
  const { rows: accounts, isLoading } = useAccounts();
  const names = useAccountNames();
  const [isAsked, setAsked] = useState(false);
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ['runningInvoices', accounts.map(({ id }) => id)],
    queryFn: ({ signal }) => runningInvoices(accounts, signal),
    enabled: !isLoading && (isAsked || accounts.length <= MOST_UNASKED),
    // A change of one account does not read the others again.
    staleTime: 'static',
  });
  const number = grouped(String(accounts.length));
  return (
    <Section
      title="This month, all accounts"
      actions={
        <Button disabled={isFetching} onClick={() => (data === undefined ? setAsked(true) : void refetch())}>
          {data === undefined ? `Add up ${number} accounts` : 'Add up again'}
        </Button>
      }
    >
      {error !== null && <Failure error={error} />}
      {data && (
        <>
          <dl className="figures" aria-label="This month, all accounts">
            <Figure name="So far, net" amount={decimalOf(sumOf(data.map(({ total }) => total)))} />
            <Figure name="Estimate, net" amount={decimalOf(sumOf(data.map(({ estimated_total }) => estimated_total)))} />
          </dl>
          <DataTable
            caption="Accounts with the highest estimates"
            columns={[
              { header: 'Account', cell: ({ account_id }: AccountCurrentInvoice) => <AccountName id={account_id} names={names} /> },
              { header: 'So far, net (EUR)', width: '9rem', align: 'right', cell: ({ total }) => <Money amount={total} /> },
              {
                header: 'Estimate, net (EUR)',
                width: '9rem',
                align: 'right',
                cell: ({ estimated_total }) => <Money amount={estimated_total} />,
              },
            ]}
            rows={data.slice(0, ROWS)}
            rowKey={({ account_id }) => account_id}
            empty={{ title: 'There is no account', text: '' }}
          />
        </>
      )}
    </Section>
  );
}

/** The running invoices of accounts, the highest estimate first. */
async function runningInvoices(accounts: readonly Account[], signal: AbortSignal): Promise<readonly AccountCurrentInvoice[]> {
  const waiting = accounts.values();
  const invoices: AccountCurrentInvoice[] = [];
  async function readNext(): Promise<void> {
    // The readers share one iterator, so each account is read once.
    for (const { id } of waiting) invoices.push(await getAccountCurrentInvoice({ client, signal, path: { account_id: id } }));
  }
  await Promise.all(Array.from({ length: CONCURRENT }, readNext));
  return invoices.toSorted((one, other) => Number(unitsOf(other.estimated_total) - unitsOf(one.estimated_total)));
}
