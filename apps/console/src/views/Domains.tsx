import type { DnsRecord, Domain } from '@reseller/operator-client';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';

import { pagesOf, queryOf } from '../api/queries.ts';
import { AccountName, useAccountNames } from '../ui/AccountName.tsx';
import { ActionButton, ActionMenu } from '../ui/Actions.tsx';
import { Facts, Failure, Instant, PageHead, Section, Status, Text } from '../ui/controls.tsx';
import { DataTable } from '../ui/DataTable.tsx';
import type { Column } from '../ui/DataTable.tsx';
import { FilteredList, useRows } from '../ui/list.tsx';

export function Domains() {
  const names = useAccountNames();
  const domains = useRows(useInfiniteQuery(pagesOf('listDomains', {})));
  const columns: readonly Column<Domain>[] = [
    { header: 'Domain', sortBy: ({ name }) => name, cell: ({ name }) => <Text value={name} /> },
    { header: 'Status', width: '8.5rem', sortBy: domainStatus, cell: (domain) => <Status value={domainStatus(domain)} /> },
    {
      header: 'Account',
      width: '12rem',
      wide: true,
      sortBy: ({ account_id }) => names.get(account_id) ?? '',
      cell: ({ account_id }) => <AccountName id={account_id} names={names} />,
    },
    {
      header: 'Registered',
      width: '8rem',
      wide: true,
      sortBy: ({ created }) => created,
      cell: ({ created }) => <Instant at={created} day />,
    },
    { header: 'Expires', width: '8rem', wide: true, sortBy: ({ expires }) => expires, cell: ({ expires }) => <Instant at={expires} day /> },
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

function domainStatus({ status, terminated }: Pick<Domain, 'status' | 'terminated'>): string {
  return terminated ? 'terminated' : status;
}

const RECORDS: readonly Column<DnsRecord>[] = [
  { header: 'Name', cell: ({ name }) => <Text value={name} /> },
  { header: 'Type', width: '5rem', cell: ({ type }) => type },
  { header: 'Data', cell: ({ data }) => <Text value={data} /> },
  { header: 'TTL', width: '5rem', align: 'right', wide: true, cell: ({ ttl }) => ttl },
  { header: 'Changed', width: '12rem', wide: true, cell: ({ changed }) => <Instant at={changed} /> },
];

/** A domain and its zone. */
export function DomainPage({ name }: { readonly name: string }) {
  const names = useAccountNames();
  const { data: domain, error } = useQuery(queryOf('getDomain', { path: { domain: name } }));
  const records = useRows(useInfiniteQuery(pagesOf('listDnsRecords', { path: { domain: name } })));
  const sorted = records.rows.toSorted((one, other) =>
    `${one.name} ${one.type} ${one.data}` < `${other.name} ${other.type} ${other.data}` ? -1 : 1,
  );
  return (
    <>
      <PageHead title={name} back={{ href: '/domains', label: 'Domains' }}>
        {domain?.terminated === false && <ActionButton id="terminateDomain" label="Terminate" path={{ domain: name }} />}
      </PageHead>
      {error !== null && <Failure error={error} />}
      {records.error !== null && <Failure error={records.error} />}
      <div className="page">
        {domain?.terminated === true && (
          <p>
            The account can take the termination back until the domain ends: <code>POST /domain/{name}/undelete</code>. No operator can.
          </p>
        )}
        {domain && (
          <Facts
            items={[
              ['Status', <Status key="status" value={domainStatus(domain)} />],
              ['Account', <AccountName key="account" id={domain.account_id} names={names} />],
              ['Contact', <code key="handle">{domain.handle}</code>],
              ['Transfer lock', domain.transfer_lock ? 'set' : 'not set'],
              ['DNSSEC', domain.dnssec],
              ['Nameservers', domain.nameservers.join(', ')],
              ['Zone in the DNS', domain.zone_published ? 'published' : (domain.zone_error ?? 'being published')],
              ['Registered', <Instant key="created" at={domain.created} />],
              [domain.terminated ? 'Ends' : 'Renews', <Instant key="expires" at={domain.expires} />],
            ]}
          />
        )}
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
