import { advanceClock } from '@reseller/operator-client';
import type { AdvanceClockRequest, Snapshot } from '@reseller/operator-client';
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';

import { client } from '../api/client.ts';
import { pagesOf, queryOf } from '../api/queries.ts';
import { useFeedControl } from '../app/feed.tsx';
import { useMayUse } from '../app/session.ts';
import { ActionButton, ActionMenu } from '../ui/Actions.tsx';
import { Button, Failure, Instant, PageHead, Section, Text } from '../ui/controls.tsx';
import { DataTable } from '../ui/DataTable.tsx';
import type { Column } from '../ui/DataTable.tsx';
import { labelOf } from '../ui/Fields.tsx';
import { useRows } from '../ui/list.tsx';

const DAY_SECONDS = 86_400;

/** The clock of a sandbox, and its snapshots. */
export function Sandbox() {
  return (
    <>
      <PageHead title="Clock and snapshots">
        <ActionButton id="resetSandbox" />
      </PageHead>
      <div className="page">
        <Clock />
        <Snapshots />
      </div>
    </>
  );
}

function Clock() {
  const queryClient = useQueryClient();
  const feed = useFeedControl();
  const mayAdvance = useMayUse('advanceClock');
  const clock = useQuery({ ...queryOf('getClock', {}), refetchInterval: 1_000 });
  const due = useQuery({ ...queryOf('getDueWork', { query: { limit: 1 } }), refetchInterval: 2_000 });
  const advance = useMutation({
    mutationFn: (body: AdvanceClockRequest) => advanceClock({ client, body }),
    onSuccess() {
      feed?.poll();
      return queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' });
    },
  });
  const next = due.data?.next[0];
  const now = clock.data?.now;
  return (
    <Section title="Clock">
      <p className="clock">
        <Instant at={now ?? null} /> <span className="muted">UTC, {aheadOf(clock.data?.advance_seconds ?? 0)}</span>
      </p>
      {mayAdvance && now !== undefined && (
        <div className="toolbar start" role="group" aria-label="Advance the clock">
          <Button disabled={advance.isPending} onClick={() => advance.mutate({ by_seconds: DAY_SECONDS })}>
            By a day
          </Button>
          <Button disabled={advance.isPending} onClick={() => advance.mutate({ to: endOfMonth(now) })}>
            To the end of the month
          </Button>
          {next && (
            <Button disabled={advance.isPending} onClick={() => advance.mutate({ to: next.due > now ? next.due : now })}>
              To the next job ({labelOf(next.kind)}, {next.due.slice(0, 10)})
            </Button>
          )}
          <ActionButton id="advanceClock" label="To another time" />
        </div>
      )}
      <p className="muted" aria-live="polite">
        {advance.isPending && 'The jobs up to the new time run.'}
        {advance.data &&
          !advance.isPending &&
          `Done. ${advance.data.work_done} ${advance.data.work_done === 1 ? 'job was' : 'jobs were'} carried out.`}
      </p>
      {advance.error !== null && <Failure error={advance.error} />}
    </Section>
  );
}

/** The first instant of the next month, at which a period has ended. */
function endOfMonth(now: string): string {
  const date = new Date(now);
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)).toISOString();
}

function aheadOf(seconds: number): string {
  if (seconds === 0) return 'the time of the machine';
  const days = Math.floor(seconds / DAY_SECONDS);
  const hours = Math.floor((seconds % DAY_SECONDS) / 3_600);
  return `${days} ${days === 1 ? 'day' : 'days'} ${hours} h ahead of the machine`;
}

const SNAPSHOTS: readonly Column<Snapshot>[] = [
  { header: 'Snapshot', cell: ({ name }) => <Text value={name} /> },
  { header: 'Taken (UTC)', width: '12rem', cell: ({ taken }) => <Instant at={taken} /> },
];

function Snapshots() {
  const snapshots = useRows(useInfiniteQuery(pagesOf('listSnapshots', {})));
  return (
    <Section title="Snapshots" actions={<ActionButton id="createSnapshot" />}>
      <DataTable
        caption="Snapshots"
        columns={SNAPSHOTS}
        {...snapshots}
        rowKey={({ name }) => name}
        actions={({ name }) => (
          <ActionMenu
            of={name}
            actions={[
              { id: 'restoreSnapshot', path: { snapshot: name } },
              { id: 'createSnapshot', path: { snapshot: name }, label: 'Replace with the present state' },
              { id: 'deleteSnapshot', path: { snapshot: name } },
            ]}
          />
        )}
        empty={{ title: 'There is no snapshot', text: 'Take one before you advance the clock, to return to the present state.' }}
      />
    </Section>
  );
}
