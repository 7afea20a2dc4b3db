import type { DnsRecord, Domain } from '@reseller/operator-client';
import { useInfiniteQuery } from '@tanstack/react-query';

import { pagesOf } from '../api/queries.ts';
import { AccountName, useAccountNames } from '../ui/AccountName.tsx';
import { ActionButton, ActionMenu } from '../ui/Actions.tsx';
import { Failure, Instant, PageHead, Section, Status } from '../ui/controls.tsx';
import { DataTable } from '../ui/DataTable.tsx';
import type { Column } from '../ui/DataTable.tsx';
import { FilteredList, useRows } from '../ui/list.tsx';

export function Domains() {
  const names = useAccountNames();
  const domains = useRows(useInfiniteQuery(pagesOf('listDomains', {})));
  const columns: readonly Column<Domain>[] = [
    { header: 'Domain', cell: ({ name }) => <span className="ellipsis">{name}</span> },
    { header: 'Status', width: '8.5rem', cell: ({ status, terminated }) => <Status value={terminated ? 'terminated' : status} /> },
    { header: 'Account', width: '12rem', wide: true, cell: ({ account_id }) => <AccountName id={account_id} names={names} /> },
    { header: 'Registered', width: '8rem', wide: true, cell: ({ created }) => <Instant at={created} day /> },
    { header: 'Expires', width: '8rem', cell: ({ expires }) => <Instant at={expires} day /> },
  ];
  return (
    <>
      <PageHead title="Domains" />
      <FilteredList
        caption="Domains"
        list={domains}
        textOf={({ name, account_id }) => `${name} ${names.get(account_id) ?? ''}`}
        columns={columns}
        rowKey={({ name }) => name}
        href={({ name }) => `/domains/${encodeURIComponent(name)}`}
        actions={({ name, terminated }) => (
          <ActionMenu of={name} actions={terminated ? [] : [{ id: 'terminateDomain', path: { domain: name } }]} />
        )}
        empty={{ title: 'There is no domain', text: 'A reseller registers one with PUT /domain/{domain}/register.' }}
      />
    </>
  );
}

const RECORDS: readonly Column<DnsRecord>[] = [
  { header: 'Name', cell: ({ name }) => <span className="ellipsis mono">{name}</span> },
  { header: 'Type', width: '5rem', cell: ({ type }) => type },
  { header: 'Data', cell: ({ data }) => <span className="ellipsis mono">{data}</span> },
  { header: 'TTL', width: '5rem', align: 'right', wide: true, cell: ({ ttl }) => ttl },
  { header: 'Changed', width: '12rem', wide: true, cell: ({ changed }) => <Instant at={changed} /> },
];

/** The zone of a domain. */
export function DomainPage({ name }: { readonly name: string }) {
  const records = useRows(useInfiniteQuery(pagesOf('listDnsRecords', { path: { domain: name } })));
  const sorted = records.rows.toSorted((one, other) =>
    `${one.name} ${one.type} ${one.data}` < `${other.name} ${other.type} ${other.data}` ? -1 : 1,
  );
  return (
    <>
      <PageHead title={name} back={{ href: '/domains', label: 'Domains' }}>
        <ActionButton id="terminateDomain" label="Terminate" path={{ domain: name }} />
      </PageHead>
      {records.error !== null && <Failure error={records.error} />}
      <div className="page">
        <Section title="Zone">
          <DataTable
            caption="DNS records"
            columns={RECORDS}
            rows={sorted}
            isLoading={records.isLoading}
            rowKey={({ id }) => id}
            empty={{ title: 'The zone has no record', text: 'The reseller adds records with the DNS operations of the reseller API.' }}
          />
        </Section>
      </div>
    </>
  );
}
