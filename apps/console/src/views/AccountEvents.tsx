import type { AccountEvent, AccountWebhook } from '@reseller/operator-client';
import { useInfiniteQuery } from '@tanstack/react-query';

import { pagesOf } from '../api/queries.ts';
import { Instant, Section, Status, Text } from '../ui/controls.tsx';
import { DataTable } from '../ui/DataTable.tsx';
import type { Column } from '../ui/DataTable.tsx';
import { useRows } from '../ui/list.tsx';

const WEBHOOK_COLUMNS: readonly Column<AccountWebhook>[] = [
  { header: 'URL', cell: ({ url }) => <Text value={url} /> },
  { header: 'State', width: '7rem', cell: (webhook) => <Status value={stateOfWebhook(webhook)} /> },
  { header: 'Waiting', width: '6rem', cell: ({ pending }) => pending },
  { header: 'Given up', width: '6rem', cell: ({ failed }) => failed },
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

const EVENT_COLUMNS: readonly Column<AccountEvent>[] = [
  { header: 'Event', cell: ({ type }) => <Text value={type} /> },
  { header: 'About', cell: ({ subject }) => <Text value={subject} /> },
  { header: 'Time', width: '12rem', cell: ({ timestamp }) => <Instant at={timestamp} /> },
];

/** The feed of an account, the newest event first. */
export function Events({ accountId }: { readonly accountId: string }) {
  const { data, isPending } = useInfiniteQuery(pagesOf('listAccountEvents', { path: { account_id: accountId } }));
  // The first page suffices to see what happens now. A feed can have many thousand events.
  const rows = data?.pages[0]?.items ?? [];
  return (
    <Section title="Events">
      <DataTable
        caption="Events"
        columns={EVENT_COLUMNS}
        rows={rows}
        isLoading={isPending}
        rowKey={({ id }) => id}
        empty={{ title: 'No event in the last 30 days', text: 'Purchases, changes, invoices and payments of the account appear here.' }}
      />
    </Section>
  );
}
