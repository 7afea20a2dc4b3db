import type { Fault } from '@reseller/operator-client';
import { useInfiniteQuery } from '@tanstack/react-query';

import { pagesOf } from '../api/queries.ts';
import { ActionButton, ActionMenu } from '../ui/Actions.tsx';
import { Instant, PageHead, Text } from '../ui/controls.tsx';
import type { Column } from '../ui/DataTable.tsx';
import { labelOf } from '../ui/Fields.tsx';
import { FilteredList, useRows } from '../ui/list.tsx';

const COLUMNS: readonly Column<Fault>[] = [
  { header: 'Effect', sortBy: ({ effect }) => effectOf(effect), cell: ({ effect }) => <Text value={effectOf(effect)} /> },
  {
    header: 'Operations',
    sortBy: ({ operations }) => operations?.join(', ') ?? 'all',
    cell: ({ operations }) => <Text value={operations?.join(', ') ?? 'all'} />,
  },
  { header: 'Keys', width: '6rem', wide: true, cell: ({ api_key_ids: keys }) => keys?.length ?? 'all' },
  {
    header: 'Left',
    width: '6.5rem',
    align: 'right',
    sortBy: ({ remaining }) => remaining,
    cell: ({ remaining, times }) => `${remaining} of ${times}`,
  },
  { header: 'Created', width: '12rem', wide: true, sortBy: ({ created }) => created, cell: ({ created }) => <Instant at={created} /> },
];

/** Failures that a sandbox injects. */
export function Faults() {
  const faults = useRows(useInfiniteQuery({ ...pagesOf('listFaults', {}), refetchInterval: 1_000 }));
  return (
    <>
      <PageHead title="Faults">
        <ActionButton id="createFault" label="New fault" />
      </PageHead>
      <FilteredList
        caption="Faults"
        list={faults}
        textOf={({ operations, effect }) => `${operations?.join(' ') ?? ''} ${effectOf(effect)}`}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        actions={({ id, effect }) => (
          <ActionMenu of={effectOf(effect)} actions={[{ id: 'removeFault', path: { fault_id: id }, target: effectOf(effect) }]} />
        )}
        empty={{ title: 'No fault is set', text: 'Set one to see how an integration handles delays, errors and lost responses.' }}
      />
    </>
  );
}

function effectOf({ kind, milliseconds, status, type, retry_after_seconds: retryAfter }: Fault['effect']): string {
  const details = [
    milliseconds === undefined ? '' : `${milliseconds} ms`,
    status === undefined ? '' : String(status),
    type ?? '',
    retryAfter === undefined ? '' : `${retryAfter} s`,
  ].filter((text) => text !== '');
  return [labelOf(kind), ...details].join(' ');
}
