import type { ReconciliationFinding } from '@reseller/operator-client';
import { useQuery } from '@tanstack/react-query';

import { queryOf } from '../api/queries.ts';
import { ActionMenu } from '../ui/Actions.tsx';
import { EmptyState, Failure, PageHead, Text } from '../ui/controls.tsx';
import { DataTable } from '../ui/DataTable.tsx';
import type { Column } from '../ui/DataTable.tsx';
import { labelOf } from '../ui/Fields.tsx';

const COLUMNS: readonly Column<ReconciliationFinding>[] = [
  { header: 'Difference', width: '10rem', cell: ({ kind }) => labelOf(kind) },
  {
    header: 'Subject',
    width: '12rem',
    // A narrow page has no room for a third column.
    cell: ({ subject, message }) => (
      <>
        <Text value={subject} />
        <div className="narrow-only">{message}</div>
      </>
    ),
  },
  { header: 'What it means', wide: true, cell: ({ message }) => message },
];

/** Differences between the hypervisor and the store. */
export function Reconcile() {
  const { data, error, isPending } = useQuery(queryOf('getReconciliation', {}));
  return (
    <>
      <PageHead title="Reconcile" />
      {error !== null && <Failure error={error} />}
      <div className="page">
        {data && !data.compared && <EmptyState title="Nothing was compared" text="The adapter of the hypervisor cannot say what it has." />}
        {(isPending || data?.compared) && (
          <DataTable
            caption="Differences"
            columns={COLUMNS}
            rows={data?.findings ?? []}
            isLoading={isPending}
            rowKey={({ kind, subject }) => `${kind} ${subject}`}
            actions={(finding) => <ActionMenu of={finding.subject} actions={actionsOf(finding)} />}
            empty={{
              title: 'No difference',
              text: 'The hypervisor has what the catalogue sells and the store bills. Nothing is ever corrected by itself.',
            }}
          />
        )}
      </div>
    </>
  );
}

function actionsOf({ kind, vm_id, subject }: ReconciliationFinding) {
  if (vm_id === null) return [];
  const common = { path: { vm_id }, target: subject };
  const release = { id: 'releaseVm', ...common } as const;
  if (kind === 'vm_unknown') return [{ id: 'adoptVm', ...common } as const, release];
  return [release, { id: 'removeVm', ...common } as const];
}
