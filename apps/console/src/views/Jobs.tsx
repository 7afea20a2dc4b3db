import type { DueItem, FailedJob, WorkQueue } from '@reseller/operator-client';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';

import { queryOf } from '../api/queries.ts';
import { AccountName, useAccountNames } from '../ui/AccountName.tsx';
import { ActionMenu } from '../ui/Actions.tsx';
import { Facts, Failure, Instant, PageHead, ShortId, Status } from '../ui/controls.tsx';
import { DataTable } from '../ui/DataTable.tsx';
import type { Column } from '../ui/DataTable.tsx';
import { labelOf } from '../ui/Fields.tsx';
import { resourcePage } from '../ui/resource-page.ts';

/** Scheduled jobs that are due next, and what else the service does without a request. */
export function Jobs() {
  const names = useAccountNames();
  const { data, error, isPending } = useQuery({ ...queryOf('getDueWork', { query: { limit: 200 } }), refetchInterval: 2_000 });
  function nameOf(id: string): string {
    return names.get(id) ?? id;
  }
  const columns: readonly Column<DueItem>[] = [
    { header: 'Job', cell: ({ kind }) => labelOf(kind) },
    { header: 'Subject', width: '16rem', wide: true, cell: ({ subject }) => <ShortId id={subject} /> },
    {
      header: 'Account',
      width: '12rem',
      wide: true,
      cell: ({ account_id }) => (account_id === null ? 'all' : <AccountName id={account_id} names={names} />),
    },
    { header: 'Due (UTC)', width: '12rem', cell: ({ due }) => <Instant at={due} /> },
  ];
  const failedColumns: readonly Column<FailedJob>[] = [
    { header: 'Job', cell: ({ kind }) => labelOf(kind) },
    { header: 'Account', width: '12rem', cell: ({ account_id }) => <AccountName id={account_id} names={names} /> },
    { header: 'Reason', wide: true, cell: ({ reason }) => reason },
    { header: 'Attempts', width: '6rem', cell: ({ attempts }) => attempts },
    { header: 'Next attempt (UTC)', width: '12rem', cell: ({ next_attempt }) => <Instant at={next_attempt} /> },
  ];
  return (
    <>
      <PageHead title="Jobs" />
      {error !== null && <Failure error={error} />}
      <div className="page">
        {data && (
          <Facts
            items={[
              ['Time of the service (UTC)', <Instant key="now" at={data.now} />],
              ['Overdue', data.overdue === 0 ? 'none' : <Status key="overdue" value="overdue" />],
              ...(data.overdue === 0
                ? []
                : ([
                    ['Overdue since', <Instant key="since" at={data.overdue_since} />],
                    ['Overdue jobs', data.overdue],
                  ] as const)),
            ]}
          />
        )}
        {data && data.failed.length > 0 && (
          <DataTable
            caption="Jobs that failed"
            columns={failedColumns}
            rows={data.failed}
            rowKey={({ kind, account_id }) => `${kind} ${account_id}`}
            actions={({ account_id }) => (
              <ActionMenu of={nameOf(account_id)} actions={[{ id: 'retryJobs', path: { account_id }, target: nameOf(account_id) }]} />
            )}
            empty={{ title: 'No job failed', text: 'A job that fails is tried again.' }}
          />
        )}
        <Queues queues={data?.queues ?? []} names={names} isLoading={isPending} />
        <DataTable
          caption="Jobs that are due next"
          columns={columns}
          rows={data?.next ?? []}
          isLoading={isPending}
          rowKey={({ kind, subject, due }) => `${kind} ${subject} ${due}`}
          empty={{ title: 'No job is scheduled', text: 'Purchases schedule jobs, such as the end of a month or a renewal.' }}
        />
      </div>
    </>
  );
}

interface QueuesProps {
  readonly queues: readonly WorkQueue[];
  /** The names of accounts. */
  readonly names: ReadonlyMap<string, string>;
  readonly isLoading: boolean;
}

/** The work that the service does without a request. */
function Queues({ queues, names, isLoading }: QueuesProps) {
  const columns: readonly Column<WorkQueue>[] = [
    {
      header: 'Queue',
      // A narrow page has no room for the columns about the oldest item.
      cell: ({ queue, oldest, oldest_seconds }) => (
        <>
          {labelOf(queue)}
          {oldest !== null && (
            <div className="narrow-only">
              <Subject subject={oldest.subject} />
              {oldest.account_id !== null && <AccountName id={oldest.account_id} names={names} />}
              {oldest_seconds !== null && <span className="muted">due for {durationOf(oldest_seconds)}</span>}
            </div>
          )}
        </>
      ),
    },
    { header: 'Waiting', width: '5rem', cell: ({ waiting }) => waiting },
    { header: 'Failed', width: '5rem', cell: ({ failed }) => failed },
    {
      header: 'Oldest due for',
      width: '9rem',
      wide: true,
      cell: ({ oldest_seconds }) => (oldest_seconds === null ? '' : durationOf(oldest_seconds)),
    },
    { header: 'Oldest', width: '20rem', wide: true, cell: ({ oldest }) => (oldest === null ? '' : <Subject subject={oldest.subject} />) },
    {
      header: 'Account',
      width: '12rem',
      wide: true,
      cell: ({ oldest }) => (oldest === null || oldest.account_id === null ? '' : <AccountName id={oldest.account_id} names={names} />),
    },
    { header: 'State', width: '7rem', cell: ({ is_held_up }) => <Status value={is_held_up ? 'held_up' : 'on_time'} /> },
  ];
  return (
    <DataTable
      caption="Queues"
      columns={columns}
      rows={queues}
      isLoading={isLoading}
      rowKey={({ queue }) => queue}
      empty={{ title: 'No queue', text: 'The service has no work of its own.' }}
    />
  );
}

/** What an item of a queue is about, with a link to its page. */
function Subject({ subject }: { readonly subject: string }) {
  const [kind = '', id = ''] = subject.split('/');
  const page = resourcePage(kind, id);
  const name = (
    <>
      {labelOf(kind)} <ShortId id={id} />
    </>
  );
  return page === undefined ? name : <Link href={page}>{name}</Link>;
}

function durationOf(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7_200 ? `${Math.floor(seconds / 60)} min` : `${Math.floor(seconds / 3_600)} h`;
}
