import type { RequestSummary } from '@reseller/operator-client';
import { useDeferredValue, useMemo, useState } from 'react';
import { useLocation, useRoute } from 'wouter';

import { useFeed } from '../app/feed.tsx';
import { FIRST_DAY, useSession } from '../app/session.ts';
import { AccountName, useAccountNames } from '../ui/AccountName.tsx';
import { CopyButton, EmptyState, Instant, PageHead, Result } from '../ui/controls.tsx';
import { DataTable } from '../ui/DataTable.tsx';
import type { Column } from '../ui/DataTable.tsx';
import { Count, FilterBox } from '../ui/list.tsx';
import { RequestDetail } from './RequestDetail.tsx';

type Kind = 'all' | 'failed' | 'changes';

/** The requests of all accounts as they arrive. */
export function Requests() {
  const { requests, connection } = useFeed();
  const names = useAccountNames();
  const [text, setText] = useState('');
  const [kind, setKind] = useState<Kind>('all');
  const [, params] = useRoute('/requests/:account/:number');
  const [, navigate] = useLocation();
  const wanted = useDeferredValue(text.trim().toLowerCase());
  const found = useMemo(
    () => requests.filter((request) => isOfKind(request, kind) && textOf(request, names).includes(wanted)),
    [requests, kind, wanted, names],
  );
  const columns = useMemo(() => columnsWith(names), [names]);
  const selected = params ? `${params.account}/${params.number}` : undefined;
  return (
    <>
      <PageHead title="Requests" />
      <div className={`split ${selected ? 'has-detail' : ''}`}>
        <div className="list">
          <div className="filters">
            <FilterBox text={text} onText={setText} label="Filter requests" />
            <select aria-label="Which requests" value={kind} onChange={({ target }) => setKind(kindOf(target.value))}>
              <option value="all">All</option>
              <option value="changes">Changes</option>
              <option value="failed">Failed</option>
            </select>
            <Count shown={found.length} total={requests.length} />
          </div>
          {requests.length === 0 && connection !== 'connecting' ? (
            <NoRequests />
          ) : (
            <DataTable
              caption="Requests"
              columns={columns}
              rows={found}
              rowKey={keyOf}
              href={(request) => `/requests/${keyOf(request)}`}
              empty={{ title: 'No request matches', text: 'Remove a word from the filter, or choose All.' }}
              isLoading={connection === 'connecting'}
              selected={selected}
            />
          )}
        </div>
        {params && (
          <RequestDetail key={selected} accountId={params.account ?? ''} number={Number(params.number)} onClose={() => navigate('/')} />
        )}
      </div>
    </>
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

function textOf({ method, endpoint, error_type, request_id, account_id }: RequestSummary, names: ReadonlyMap<string, string>): string {
  return `${method} ${endpoint} ${error_type ?? ''} ${request_id} ${account_id} ${names.get(account_id) ?? ''}`.toLowerCase();
}

function keyOf({ account_id, number }: RequestSummary): string {
  return `${account_id}/${number}`;
}

function columnsWith(names: ReadonlyMap<string, string>): Column<RequestSummary>[] {
  return [
    {
      header: 'Request',
      cell: ({ method, endpoint }) => (
        <span className="ellipsis">
          <span className="method">{method}</span> {endpoint}
        </span>
      ),
    },
    {
      header: 'Result',
      width: '10rem',
      cell: ({ error_type }) => <Result errorType={error_type} />,
    },
    { header: 'Account', width: '11rem', wide: true, cell: ({ account_id }) => <AccountName id={account_id} names={names} /> },
    { header: 'Time (UTC)', width: '12rem', wide: true, cell: ({ time }) => <Instant at={time} /> },
  ];
}
