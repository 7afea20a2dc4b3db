/** The possessions of an account and its failures: the first rows of each list, with a link to the whole list. */
import type { DedicatedServer, Domain, Invoice, Payment, RequestSummary, Vm } from '@reseller/operator-client';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import { Link } from 'wouter';

import { pagesOf } from '../api/queries.ts';
import type { ListPage } from '../api/queries.ts';
import { Failure, Instant, Money, Section, Status, Text } from '../ui/controls.tsx';
import { DataTable } from '../ui/DataTable.tsx';
import type { DataTableProps } from '../ui/DataTable.tsx';
import { RequestResult } from '../ui/RequestResult.tsx';

const ROWS = 10;

interface Owned {
  readonly id: string;
  readonly name: string;
}

/** The machines, the money and the failures of an account. */
export function AccountOwns(owned: Owned) {
  return (
    <>
      <Machines {...owned} />
      <MoneyAndFailures {...owned} />
    </>
  );
}

function Machines({ id, name }: Owned) {
  const query = { account_id: id, limit: ROWS };
  const all = `?${new URLSearchParams({ filter: name })}`;
  return (
    <>
      <List
        title="VMs"
        all={`/vms${all}`}
        query={useInfiniteQuery(pagesOf('listVms', { query }))}
        columns={[
          { header: 'VM', cell: (vm: Vm) => <Text value={`${vm.id} ${vm.hostname}`} /> },
          { header: 'State', width: '7rem', cell: ({ state, abuse }) => <Status value={abuse.status === 'BLOCKED' ? 'blocked' : state} /> },
          { header: 'Net, 30 days (EUR)', width: '8rem', align: 'right', cell: ({ monthly_price }) => <Money amount={monthly_price} /> },
        ]}
        rowKey={({ id: vmid, created }) => `${vmid} ${created}`}
        href={(vm) => `/vms/${vm.id}`}
      />
      <List
        title="Servers"
        all={`/servers${all}`}
        query={useInfiniteQuery(pagesOf('listDedicatedServers', { query }))}
        columns={[
          {
            header: 'Server',
            cell: (server: DedicatedServer) => <Text value={`${server.datacenter.name}, ${server.ipv4[0]?.address ?? server.id}`} />,
          },
          { header: 'Renews', width: '12rem', wide: true, cell: ({ renew }) => <Instant at={renew} /> },
          { header: 'Net (EUR)', width: '7rem', align: 'right', cell: ({ price }) => <Money amount={price} /> },
        ]}
        rowKey={(server) => server.id}
        href={(server) => `/servers/${server.id}`}
      />
      <List
        title="Domains"
        all={`/domains${all}`}
        query={useInfiniteQuery(pagesOf('listDomains', { query }))}
        columns={[
          { header: 'Domain', cell: (domain: Domain) => <Text value={domain.name} /> },
          { header: 'Status', width: '8.5rem', cell: ({ status, terminated }) => <Status value={terminated ? 'terminated' : status} /> },
          { header: 'Expires', width: '8rem', wide: true, cell: ({ expires }) => <Instant at={expires} day /> },
        ]}
        rowKey={(domain) => domain.name}
        href={(domain) => `/domains/${encodeURIComponent(domain.name)}`}
      />
    </>
  );
}

function MoneyAndFailures({ id, name }: Owned) {
  const query = { account_id: id, limit: ROWS };
  const all = `?${new URLSearchParams({ filter: name })}`;
  return (
    <>
      <List
        title="Invoices"
        all={`/invoices${all}`}
        query={useInfiniteQuery(pagesOf('listInvoices', { query }))}
        columns={[
          { header: 'Invoice', cell: (invoice: Invoice) => <Text value={invoice.number ?? invoice.id} /> },
          { header: 'Status', width: '8rem', cell: ({ status }) => <Status value={status} /> },
          { header: 'Due', width: '8rem', wide: true, cell: ({ due }) => <Instant at={due} day /> },
          { header: 'Unpaid, gross (EUR)', width: '8rem', align: 'right', cell: ({ unpaid }) => <Money amount={unpaid} /> },
        ]}
        rowKey={(invoice) => invoice.id}
        href={(invoice) => `/invoices/${encodeURIComponent(invoice.number ?? invoice.id)}`}
      />
      <List
        title="Payments"
        all={`/payments${all}`}
        query={useInfiniteQuery(pagesOf('listPayments', { query }))}
        columns={[
          { header: 'Payment', cell: (payment: Payment) => <Text value={payment.name} title={payment.reference} /> },
          { header: 'Date', width: '7.5rem', cell: ({ date }) => date },
          { header: 'Amount (EUR)', width: '7.5rem', align: 'right', cell: ({ amount }) => <Money amount={amount} /> },
        ]}
        rowKey={(payment) => payment.id}
      />
      <List
        title="Failed requests"
        all={`/?search&${new URLSearchParams({ account_id: id, result: 'failed' })}`}
        query={useInfiniteQuery(pagesOf('listRequests', { query: { ...query, result: 'failed' } }))}
        columns={[
          {
            header: 'Request',
            width: 'min(20rem, 50vw)',
            cell: ({ method, endpoint }: RequestSummary) => <Text value={`${method} ${endpoint}`} />,
          },
          { header: 'Result', cell: (request) => <RequestResult request={request} /> },
          { header: 'Time (UTC)', width: '12rem', wide: true, cell: ({ time }) => <Instant at={time} /> },
        ]}
        rowKey={({ account_id, number }) => `${account_id}/${number}`}
        href={({ account_id, number }) => `/requests/${account_id}/${number}`}
      />
    </>
  );
}

interface ListProps<Row> extends Pick<DataTableProps<Row>, 'columns' | 'rowKey' | 'href'> {
  readonly title: string;
  /** Where all rows are. */
  readonly all: string;
  readonly query: UseInfiniteQueryResult<InfiniteData<ListPage<Row>, unknown>, unknown>;
}

function List<Row>({ title, all, query: { data, isPending, error, hasNextPage }, ...table }: ListProps<Row>) {
  const rows = data?.pages[0]?.items ?? [];
  return (
    <Section title={title} actions={<Link href={all}>{hasNextPage ? 'More in the list' : 'Open the list'}</Link>}>
      {error !== null && <Failure error={error} />}
      <DataTable caption={title} rows={rows} isLoading={isPending} empty={{ title: `No ${title.toLowerCase()}`, text: '' }} {...table} />
    </Section>
  );
}
