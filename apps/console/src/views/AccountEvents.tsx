import type { AccountEvent, AccountWebhook, AuditRecord, RequestSummary } from '@reseller/operator-client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from 'wouter';

import { pagesOf } from '../api/queries.ts';
import { useMayUse, useSession } from '../app/session.ts';
import { isOperation } from '../document/known.ts';
import { operations } from '../document/operations.data.ts';
import { Instant, Section, Status, Text } from '../ui/controls.tsx';
import { DataTable } from '../ui/DataTable.tsx';
import type { Column } from '../ui/DataTable.tsx';
import { useRows } from '../ui/list.tsx';
import { resourcePage } from '../ui/resource-page.ts';

const WEBHOOK_COLUMNS: readonly Column<AccountWebhook>[] = [
  {
    header: 'URL',
    // A narrow page has no room for the columns with these numbers.
    cell: ({ url, pending, failed }) => (
      <>
        <Text value={url} />
        <div className="narrow-only muted">{`${pending} waiting, ${failed} given up`}</div>
      </>
    ),
  },
  { header: 'State', width: '7rem', cell: (webhook) => <Status value={stateOfWebhook(webhook)} /> },
  { header: 'Waiting', width: '6rem', wide: true, cell: ({ pending }) => pending },
  { header: 'Given up', width: '6rem', wide: true, cell: ({ failed }) => failed },
  { header: 'Failing since', width: '12rem', wide: true, cell: ({ failing_since }) => <Instant at={failing_since} /> },
  { header: 'Events', width: '14rem', wide: true, cell: ({ events }) => <Text value={events.join(', ')} /> },
];

function stateOfWebhook({ enabled, confirmed, failing_since }: AccountWebhook): string {
  if (!enabled) return 'disabled';
  if (failing_since !== null) return 'failing';
  return confirmed ? 'enabled' : 'unconfirmed';
}

/** The URLs that receive the events of an account. Only the account changes them. */
export function Webhooks({ accountId }: { readonly accountId: string }) {
  const { rows, isLoading } = useRows(useInfiniteQuery(pagesOf('listAccountWebhooks', { path: { account_id: accountId } })));
  return (
    <Section title="Webhooks">
      <DataTable
        caption="Webhooks"
        columns={WEBHOOK_COLUMNS}
        rows={rows}
        isLoading={isLoading}
        rowKey={({ id }) => id}
        empty={{ title: 'The account has no webhook', text: 'It can add one with the reseller API, and reads its events there, too.' }}
      />
    </Section>
  );
}

const ROWS = 20;

/** A line of the timeline of an account. */
interface Entry {
  readonly id: string;
  readonly time: string;
  readonly what: string;
  readonly about: string;
  /** Who did it. */
  readonly by: string;
  /** The page with more of it. */
  readonly href: string | undefined;
}

const TIMELINE: readonly Column<Entry>[] = [
  { header: 'Time (UTC)', width: '12rem', cell: ({ time }) => <Instant at={time} /> },
  { header: 'What', cell: ({ what, href }) => (href === undefined ? <Text value={what} /> : <Link href={href}>{what}</Link>) },
  { header: 'About', wide: true, cell: ({ about }) => <Text value={about} /> },
  { header: 'By', width: '12rem', wide: true, cell: ({ by }) => <Text value={by} /> },
];

/** The events of an account, its failed requests and the changes of the operators, the newest first. */
export function Timeline({ accountId }: { readonly accountId: string }) {
  const query = { limit: ROWS };
  const { mode } = useSession();
  const events = useInfiniteQuery(pagesOf('listAccountEvents', { path: { account_id: accountId }, query }));
  const failed = useInfiniteQuery(pagesOf('listRequests', { query: { ...query, account_id: accountId, result: 'failed' } }));
  const mayReadAudit = useMayUse('listAuditRecords');
  const changes = useInfiniteQuery({ ...pagesOf('listAuditRecords', { query: { ...query, target: accountId } }), enabled: mayReadAudit });
  // The first pages have the newest entries, which are all that is shown. A feed can have many thousand events.
  const entries: readonly Entry[] = [
    ...(events.data?.pages[0]?.items ?? []).map(entryOfEvent),
    ...(failed.data?.pages[0]?.items ?? []).map(entryOfRequest),
    ...(changes.data?.pages[0]?.items ?? []).map(entryOfChange),
  ];
  return (
    <Section
      title="Timeline"
      actions={<Link href={`/?search&${new URLSearchParams({ account_id: accountId })}`}>Requests of this account</Link>}
    >
      {mode === 'sandbox' && <p className="muted">Changes of operators have the time of the machine, and all else that of the sandbox.</p>}
      <DataTable
        caption="Timeline"
        columns={TIMELINE}
        rows={entries.toSorted((one, other) => other.time.localeCompare(one.time)).slice(0, ROWS)}
        isLoading={events.isPending}
        rowKey={({ id }) => id}
        empty={{ title: 'Nothing in the last 30 days', text: 'Purchases, changes, invoices, payments and failed requests appear here.' }}
      />
    </Section>
  );
}

function entryOfEvent({ id, timestamp, type, subject }: AccountEvent): Entry {
  const [kind = '', name = ''] = subject.split('/');
  return {
    id,
    time: timestamp,
    what: type,
    about: subject,
    by: '',
    href: resourcePage(kind, name),
  };
}

function entryOfRequest({ account_id, number, time, method, endpoint, status, error_type }: RequestSummary): Entry {
  return {
    id: `request ${number}`,
    time,
    what: `Refused: ${method} ${endpoint}`,
    about: `${status ?? ''} ${error_type ?? ''}`,
    by: 'the account',
    href: `/requests/${account_id}/${number}`,
  };
}

function entryOfChange({ id, time, operation, actor_name }: AuditRecord): Entry {
  return {
    id,
    time,
    what: isOperation(operation) ? operations[operation].summary : operation,
    about: 'the account',
    by: actor_name,
    href: undefined,
  };
}
