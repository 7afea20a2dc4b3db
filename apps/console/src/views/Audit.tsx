import type { AuditRecord } from '@reseller/operator-client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { pagesOf } from '../api/queries.ts';
import { isOperation } from '../document/known.ts';
import { operations } from '../document/operations.data.ts';
import { Button, Facts, Instant, Json, PageHead, Section, ShortId, Text } from '../ui/controls.tsx';
import type { Column } from '../ui/DataTable.tsx';
import { FilteredList, useRows } from '../ui/list.tsx';

/** Every change of the team, newest first. */
export function Audit() {
  const records = useRows(useInfiniteQuery(pagesOf('listAuditRecords', {})));
  const [shown, setShown] = useState<AuditRecord>();
  const columns: readonly Column<AuditRecord>[] = [
    {
      header: 'Operation',
      sortBy: titleOf,
      cell: (record) => (
        <button type="button" className="link ellipsis" onClick={() => setShown(record)}>
          {titleOf(record)}
        </button>
      ),
    },
    {
      header: 'Target',
      width: '12rem',
      sortBy: ({ target }) => target,
      cell: ({ target }) =>
        target === null ? (
          ''
        ) : (
          <span className="ellipsis">
            <ShortId id={target} />
          </span>
        ),
    },
    {
      header: 'By',
      width: '17rem',
      wide: true,
      sortBy: ({ actor_name }) => actor_name,
      cell: ({ actor_name }) => <Text value={actor_name} />,
    },
    { header: 'From', width: '9rem', wide: true, sortBy: ({ address }) => address, cell: ({ address }) => <code>{address}</code> },
    { header: 'Time (UTC)', width: '12rem', wide: true, sortBy: ({ time }) => time, cell: ({ time }) => <Instant at={time} /> },
  ];
  return (
    <>
      <PageHead title="Audit" />
      <div className={`split ${shown ? 'has-detail' : ''}`}>
        <FilteredList
          caption="Audit"
          list={records}
          textOf={(record) => `${titleOf(record)} ${record.operation} ${record.target ?? ''} ${record.actor_name} ${record.address}`}
          columns={columns}
          rowKey={({ id }) => id}
          selected={shown?.id}
          empty={{ title: 'Nothing has been changed', text: 'Each successful change through the operator API leaves a record here.' }}
        />
        {shown && <Detail record={shown} onClose={() => setShown(undefined)} />}
      </div>
    </>
  );
}

function titleOf({ operation }: AuditRecord): string {
  return isOperation(operation) ? operations[operation].summary : operation;
}

function Detail({ record, onClose }: { readonly record: AuditRecord; readonly onClose: () => void }) {
  return (
    <aside className="detail" aria-label="Record">
      <div className="section-head">
        <h2>{titleOf(record)}</h2>
        <Button onClick={onClose}>Close</Button>
      </div>
      <Facts
        items={[
          ['Operation', <code key="operation">{record.operation}</code>],
          ['By', record.actor_name],
          ['From', record.address],
          ['Target', record.target ?? 'none'],
          ['Time (UTC)', <Instant key="time" at={record.time} />],
          ['Request ID', <code key="request">{record.request_id}</code>],
          ['Number', record.seq ?? 'none'],
        ]}
      />
      <Section title="Before">
        <Json text={JSON.stringify(record.before)} label="Before" />
      </Section>
      <Section title="After">
        <Json text={JSON.stringify(record.after)} label="After" />
      </Section>
    </aside>
  );
}
