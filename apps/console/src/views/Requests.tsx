import type { RequestSummary } from '@reseller/operator-client';
import { useDeferredValue, useMemo } from 'react';
import { Link, useLocation, useRoute, useSearch } from 'wouter';

import { useFeed } from '../app/feed.tsx';
import { FIRST_DAY, useSession } from '../app/session.ts';
import { AccountName, useAccountNames } from '../ui/AccountName.tsx';
import { CopyButton, EmptyState, Instant, Money, PageHead } from '../ui/controls.tsx';
import { DataTable } from '../ui/DataTable.tsx';
import type { Column, DataTableProps } from '../ui/DataTable.tsx';
import { Count, FilterBox, useInAddress } from '../ui/list.tsx';
import { RequestResult } from '../ui/RequestResult.tsx';
import { RequestDetail } from './RequestDetail.tsx';
import { RequestSearch } from './RequestSearch.tsx';

type Kind = 'all' | 'failed' | 'changes';

/** The requests of all accounts as they arrive, or those that a search of the log finds. */
export function Requests() {
  const [, params] = useRoute('/requests/:account/:number');
  const [, navigate] = useLocation();
  const search = useSearch();
  const isSearch = new URLSearchParams(search).has('search');
  const selected = params ? `${params.account}/${params.number}` : undefined;
  const { isLoading, table } = useTable(selected);
  return (
    <>
      <PageHead title="Requests">
        <Link href={isSearch ? '/' : '/?search'} className="button">
          {isSearch ? 'Follow new requests' : 'Search the log'}
        </Link>
      </PageHead>
      <div className={`split ${selected ? 'has-detail' : ''}`}>
        {isSearch ? <RequestSearch search={search} table={table} /> : <NewRequests table={table} isLoading={isLoading} />}
        {params && (
          <RequestDetail
            key={selected}
            accountId={params.account ?? ''}
            number={Number(params.number)}
            onClose={() => navigate(search === '' ? '/' : `/?${search}`)}
          />
        )}
      </div>
    </>
  );
}

/** The columns that stay next to an open request. */
const IN_LITTLE_ROOM = new Set(['Request', 'Result', 'Time (UTC)']);

/** How a table shows requests. */
export type RequestTable = Pick<DataTableProps<RequestSummary>, 'caption' | 'columns' | 'rowKey' | 'href' | 'selected'>;

function useTable(selected: string | undefined): { readonly isLoading: boolean; readonly table: RequestTable } {
  const { connection } = useFeed();
  const names = useAccountNames();
  const search = useSearch();
  const table = useMemo(
    () => ({
      caption: 'Requests',
      selected,
      // Next to an open request, its reason needs the room.
      columns: columnsWith(names).filter(({ header }) => selected === undefined || IN_LITTLE_ROOM.has(header)),
      rowKey: keyOf,
      href: (request: RequestSummary) => `/requests/${keyOf(request)}${search === '' ? '' : `?${search}`}`,
    }),
    [names, search, selected],
  );
  return { isLoading: connection === 'connecting', table };
}

function NewRequests({ table, isLoading }: { readonly table: RequestTable; readonly isLoading: boolean }) {
  const { requests } = useFeed();
  const names = useAccountNames();
  const [text, setText] = useInAddress('filter');
  const [kindName, setKind] = useInAddress('kind');
  const kind = kindOf(kindName);
  const wanted = useDeferredValue(text.trim().toLowerCase());
  const found = useMemo(
    () => requests.filter((request) => isOfKind(request, kind) && textOf(request, names).includes(wanted)),
    [requests, kind, wanted, names],
  );
  return (
    <div className="list">
      <div className="filters">
        <FilterBox text={text} onText={setText} label="Filter requests" />
        <select aria-label="Which requests" value={kind} onChange={({ target }) => setKind(target.value === 'all' ? '' : target.value)}>
          <option value="all">All</option>
          <option value="changes">Changes</option>
          <option value="failed">Failed</option>
        </select>
        <Count shown={found.length} total={requests.length} />
      </div>
      {requests.length === 0 && !isLoading ? (
        <NoRequests />
      ) : (
        <DataTable
          {...table}
          rows={found}
          empty={{ title: 'No new request matches', text: 'Remove a word from the filter, or search the log.' }}
          isLoading={isLoading}
        />
      )}
    </div>
  );
}

function NoRequests() {
  const { mode, reseller_api } = useSession();
  const command = `curl ${reseller_api}/vm/list/hosts -H "X-SERVICE-APIKEY: $RESELLER_API_KEY"`;
  return (
    <EmptyState
      title="No request has arrived yet"
      text={
        <>
          {mode === 'sandbox' ? (
            <p>Send one with the API key that the sandbox printed. It appears here within a second.</p>
          ) : (
            <p>
              <a href={FIRST_DAY}>The first day of a provider</a> leads to the first API key. A request with it appears here within a
              second.
            </p>
          )}
          <pre className="code" tabIndex={0} role="region" aria-label="A first request">
            {command}
          </pre>
          <CopyButton text={command}>Copy as curl</CopyButton>
        </>
      }
    />
  );
}

function kindOf(value: string): Kind {
  return value === 'failed' || value === 'changes' ? value : 'all';
}

function isOfKind({ success, method }: RequestSummary, kind: Kind): boolean {
  return kind === 'all' || (kind === 'failed' ? !success : method !== 'GET');
}

function textOf(request: RequestSummary, names: ReadonlyMap<string, string>): string {
  const { method, endpoint, status, error_type, error_message, request_id, account_id, bought } = request;
  const texts = [method, endpoint, status, error_type, error_message, request_id, account_id, names.get(account_id), bought?.subject];
  return texts.join(' ').toLowerCase();
}

function keyOf({ account_id, number }: RequestSummary): string {
  return `${account_id}/${number}`;
}

function columnsWith(names: ReadonlyMap<string, string>): Column<RequestSummary>[] {
  return [
    {
      header: 'Request',
      width: 'min(18rem, 50vw)',
      cell: ({ method, endpoint }) => (
        <span className="ellipsis">
          <span className="method">{method}</span> {endpoint}
        </span>
      ),
    },
    { header: 'Result', cell: (request) => <RequestResult request={request} /> },
    {
      header: 'Bought, net (EUR)',
      width: '8.5rem',
      wide: true,
      align: 'right',
      cell: ({ bought }) => bought && <Money amount={bought.price} />,
    },
    { header: 'Account', width: '11rem', wide: true, cell: ({ account_id }) => <AccountName id={account_id} names={names} /> },
    { header: 'Took', width: '6rem', wide: true, align: 'right', cell: ({ duration_ms: took }) => (took === null ? '' : `${took} ms`) },
    { header: 'Time (UTC)', width: '12rem', wide: true, cell: ({ time }) => <Instant at={time} /> },
  ];
}
