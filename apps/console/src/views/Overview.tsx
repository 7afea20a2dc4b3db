/** The jobs, invoices, capacity and accounts that the provider has to look after. */
import type { Account, DueWork, HostNode, HostSystem, Invoice, IpPool } from '@reseller/operator-client';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';

import { decimalOf, grouped, sumOf } from '../api/money.ts';
import { pagesOf, queryOf } from '../api/queries.ts';
import { AccountName, useAccountNames, useAccounts } from '../ui/AccountName.tsx';
import { Failure, Figure, Instant, Money, PageHead, Section, Status, Text } from '../ui/controls.tsx';
import { DataTable } from '../ui/DataTable.tsx';
import type { Column } from '../ui/DataTable.tsx';
import { labelOf } from '../ui/Fields.tsx';
import { useRows } from '../ui/list.tsx';
import { Sections } from '../ui/Sections.tsx';
import { stateOf } from './Accounts.tsx';
import { MonthOfAll } from './MonthOfAll.tsx';

const ROWS = 10;
const NEW_DAYS = 30;
const DAY_MS = 86_400_000;
/** A smaller part that is left is shown in red, with its percentage. */
const SCARCE = 0.1;

export function Overview() {
  const { data: work, error } = useQuery({ ...queryOf('getDueWork', { query: { limit: 1 } }), refetchInterval: 5_000 });
  return (
    <>
      <PageHead title="Overview" />
      {error !== null && <Failure error={error} />}
      <Sections>
        {work && <Work work={work} />}
        <Unpaid />
        <Capacity />
        <MonthOfAll />
        {work && <NewAccounts now={work.now} />}
      </Sections>
    </>
  );
}

interface Trouble {
  readonly what: string;
  readonly why: string;
}

/** The failed jobs, and the queues that are held up. */
function Work({ work: { failed, queues } }: { readonly work: DueWork }) {
  const names = useAccountNames();
  const troubles: readonly Trouble[] = [
    ...failed.map(({ kind, account_id, reason }) => ({ what: `${labelOf(kind)}, ${names.get(account_id) ?? account_id}`, why: reason })),
    ...queues
      .filter(({ is_held_up }) => is_held_up)
      .map(({ queue, failed: tried, waiting }) => ({ what: labelOf(queue), why: `${tried} failed, ${waiting} waiting` })),
  ];
  return (
    <Section title="Failed or held up" actions={<Link href="/jobs">Open the jobs</Link>}>
      <DataTable
        caption="Failed or held up"
        columns={[
          { header: 'Job or queue', width: '20rem', cell: ({ what }: Trouble) => <Text value={what} /> },
          { header: 'Reason', cell: ({ why }) => <Text value={why} title={why} /> },
        ]}
        rows={troubles.slice(0, ROWS)}
        rowKey={({ what, why }) => `${what} ${why}`}
        empty={{ title: 'No job failed, and no queue is held up', text: '' }}
      />
    </Section>
  );
}

/** The open invoices, those first that were due first. */
function Unpaid() {
  const names = useAccountNames();
  const open = useRows(useInfiniteQuery(pagesOf('listInvoices', { query: { status: 'OPEN' } })));
  const overdue = useRows(useInfiniteQuery(pagesOf('listInvoices', { query: { overdue: 'true' } })));
  const overdueIds = new Set(overdue.rows.map(({ id }) => id));
  // A long list keeps the rows that were paid since it was read.
  const unpaid = open.rows.filter(({ status }) => status === 'OPEN').toSorted((one, other) => dueOf(one).localeCompare(dueOf(other)));
  const columns: readonly Column<Invoice>[] = [
    { header: 'Invoice', cell: ({ id, number }) => <Text value={number ?? id} /> },
    { header: 'Account', wide: true, cell: ({ account_id }) => <AccountName id={account_id} names={names} /> },
    { header: 'Due', width: '8rem', wide: true, cell: ({ due }) => <Instant at={due} day /> },
    { header: 'State', width: '7rem', cell: ({ id }) => <Status value={overdueIds.has(id) ? 'overdue' : 'OPEN'} /> },
    { header: 'Unpaid, gross (EUR)', width: '8rem', align: 'right', cell: (invoice) => <Money amount={invoice.unpaid} /> },
  ];
  return (
    <Section title="Unpaid invoices" actions={<More all="/invoices?filter=OPEN" rows={unpaid} />}>
      {open.error !== null && <Failure error={open.error} />}
      <dl className="figures">
        <Figure name="Overdue, gross" amount={unpaidOf(unpaid.filter(({ id }) => overdueIds.has(id)))} />
        <Figure name="Unpaid, gross" amount={unpaidOf(unpaid)} />
      </dl>
      <DataTable
        caption="Unpaid invoices"
        columns={columns}
        rows={unpaid.slice(0, ROWS)}
        isLoading={open.isLoading}
        rowKey={({ id }) => id}
        href={({ id, number }) => `/invoices/${encodeURIComponent(number ?? id)}`}
        empty={{ title: 'No invoice is unpaid', text: '' }}
      />
    </Section>
  );
}

/** An invoice without a document has no due date yet, so it comes last. */
function dueOf({ due, created }: Invoice): string {
  return due ?? `9999 ${created}`;
}

function unpaidOf(invoices: readonly Invoice[]): string {
  return decimalOf(sumOf(invoices.map(({ unpaid }) => unpaid ?? '0')));
}

const HOST_COLUMNS: readonly Column<HostSystem>[] = [
  { header: 'Host system', cell: ({ displayname }) => <Text value={displayname} /> },
  { header: 'Cores left', width: '8rem', align: 'right', cell: ({ nodes }) => <Left {...roomOf(nodes, 'cores', 'used_cores')} /> },
  {
    header: 'GB memory left',
    width: '9rem',
    align: 'right',
    cell: ({ nodes }) => <Left {...roomOf(nodes, 'mem', 'used_mem')} unit={1024} />,
  },
  {
    header: 'GB disk left',
    width: '10rem',
    align: 'right',
    wide: true,
    cell: ({ nodes }) => <Left {...roomOf(nodes, 'disk', 'used_disk')} />,
  },
  {
    header: 'GB storage left',
    width: '10rem',
    align: 'right',
    wide: true,
    cell: ({ nodes }) => <Left {...roomOf(nodes, 'storage', 'used_storage')} />,
  },
];

const POOL_COLUMNS: readonly Column<IpPool>[] = [
  { header: 'Pool', cell: ({ cidr, family }) => <Text value={`${cidr}, IPv${family}`} /> },
  { header: 'Data centre', width: '10rem', wide: true, cell: ({ datacenter }) => datacenter },
  { header: 'Addresses left', width: '8rem', align: 'right', cell: ({ used, total }) => <Left used={used} total={total} /> },
];

function Capacity() {
  const hosts = useRows(useInfiniteQuery(pagesOf('listHostSystems', {})));
  const pools = useRows(useInfiniteQuery(pagesOf('listIpPools', {})));
  return (
    <Section title="Capacity left" actions={<Link href="/nodes">Open the nodes</Link>}>
      {hosts.error !== null && <Failure error={hosts.error} />}
      <DataTable
        caption="Capacity left"
        columns={HOST_COLUMNS}
        {...hosts}
        rowKey={({ name }) => name}
        href={({ name }) => `/nodes/${name}`}
        empty={{ title: 'There is no host system', text: 'Define one under Nodes. Then accounts can buy VMs.' }}
      />
      <DataTable
        caption="Addresses left"
        columns={POOL_COLUMNS}
        // A pool of an account is not for others.
        rows={pools.rows.filter(({ account_id }) => account_id === null)}
        isLoading={pools.isLoading}
        rowKey={({ id }) => id}
        empty={{ title: 'There is no pool of addresses', text: 'Define one in the catalogue. Then VMs get addresses.' }}
      />
    </Section>
  );
}

type Part = Exclude<keyof HostNode, 'name'>;

function roomOf(nodes: readonly HostNode[], part: Part, usedPart: Part): { readonly used: number; readonly total: number } {
  return { used: totalOf(nodes, usedPart), total: totalOf(nodes, part) };
}

function totalOf(nodes: readonly HostNode[], part: Part): number {
  return nodes.reduce((total, node) => total + node[part], 0);
}

/** @param unit What one unit of the shown number is in those of the service. */
function Left({ used, total, unit = 1 }: { readonly used: number; readonly total: number; readonly unit?: number }) {
  if (total === 0) return <span className="muted">none</span>;
  const part = (total - used) / total;
  return (
    <span className={`number ${part < SCARCE ? 'negative' : ''}`}>
      {grouped(String(Math.floor((total - used) / unit)))}
      {part < SCARCE && ` (${Math.floor(part * 100)} %)`}
    </span>
  );
}

const ACCOUNT_COLUMNS: readonly Column<Account>[] = [
  { header: 'Account', cell: ({ name }) => <Text value={name} /> },
  { header: 'State', width: '8rem', cell: (account) => <Status value={stateOf(account)} /> },
  { header: 'Created', width: '8rem', cell: ({ created }) => <Instant at={created} day /> },
  {
    header: 'Credit limit, net (EUR)',
    width: '9rem',
    align: 'right',
    wide: true,
    cell: ({ credit_limit }) => <Money amount={credit_limit} />,
  },
];

/** @param now The time of the service. The clock of a sandbox is not that of the browser. */
function NewAccounts({ now }: { readonly now: string }) {
  const { rows, isLoading } = useAccounts();
  const since = new Date(Date.parse(now) - NEW_DAYS * DAY_MS).toISOString();
  const added = rows.filter(({ created }) => created >= since).toReversed();
  return (
    <Section title={`New accounts of the last ${NEW_DAYS} days`} actions={<More all="/accounts" rows={added} />}>
      <DataTable
        caption="New accounts"
        columns={ACCOUNT_COLUMNS}
        rows={added.slice(0, ROWS)}
        isLoading={isLoading}
        rowKey={({ id }) => id}
        href={({ id }) => `/accounts/${id}`}
        empty={{ title: 'No new account', text: '' }}
      />
    </Section>
  );
}

function More({ all, rows }: { readonly all: string; readonly rows: readonly unknown[] }) {
  return <Link href={all}>{rows.length > ROWS ? `All ${grouped(String(rows.length))}` : 'Open the list'}</Link>;
}
