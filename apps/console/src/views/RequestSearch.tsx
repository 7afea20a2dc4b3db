import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useId, useMemo } from 'react';
import type { FormEvent } from 'react';
import { useLocation } from 'wouter';

import { pagesOf } from '../api/queries.ts';
import { useAccounts } from '../ui/AccountName.tsx';
import { Button, Failure } from '../ui/controls.tsx';
import { DataTable } from '../ui/DataTable.tsx';
import { Count } from '../ui/list.tsx';
import { visible } from '../ui/visible.ts';
import type { RequestTable } from './Requests.tsx';

/** The fields of a search, which are the parameters of `listRequests`. */
const TEXTS = [
  { name: 'endpoint', label: 'Path begins with' },
  { name: 'request_id', label: 'Request ID' },
  { name: 'idempotency_key', label: 'Idempotency-Key' },
  { name: 'status', label: 'Status' },
] as const;

type SearchQuery = NonNullable<Parameters<typeof pagesOf<'listRequests'>>[1]['query']>;

/** Finds requests in the whole log, however old they are. The address of the page has the search, so it can be sent to others. */
export function RequestSearch({ search, table }: { readonly search: string; readonly table: RequestTable }) {
  const query = useMemo(() => queryOf(search), [search]);
  const found = useInfiniteQuery({ ...pagesOf('listRequests', { query }), refetchInterval: false });
  const { data, hasNextPage, isFetching, isPending, error, fetchNextPage } = found;
  const rows = useMemo(() => data?.pages.flatMap(({ items }) => items) ?? [], [data]);
  useEffect(() => {
    // A page without a match is not the end of the log.
    if (rows.length === 0 && hasNextPage && !isFetching && error === null) void fetchNextPage();
  }, [rows, hasNextPage, isFetching, error, fetchNextPage]);
  return (
    <div className="list">
      <SearchForm key={search} query={query} />
      {error !== null && <Failure error={error} />}
      <div className="filters">
        <Count shown={rows.length} total={rows.length} />
        {hasNextPage && (
          <Button onClick={() => void fetchNextPage()} disabled={isFetching}>
            Older requests
          </Button>
        )}
      </div>
      <DataTable
        {...table}
        rows={rows}
        empty={{ title: 'No request matches', text: 'Remove a field of the search.' }}
        isLoading={isPending || (isFetching && rows.length === 0)}
      />
    </div>
  );
}

function queryOf(search: string): SearchQuery {
  const values = new URLSearchParams(search);
  values.delete('search');
  return Object.fromEntries([...values].filter(([, value]) => value !== ''));
}

function SearchForm({ query }: { readonly query: SearchQuery }) {
  const id = useId();
  const [, navigate] = useLocation();
  const { rows: accounts } = useAccounts();
  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const values = [...new FormData(event.currentTarget)].flatMap(([name, value]) =>
      typeof value === 'string' && value.trim() !== '' ? [[name, isTime(name) ? `${value}:00Z` : value.trim()]] : [],
    );
    navigate(`/?search&${new URLSearchParams(values)}`);
  }
  return (
    <form className="filters search" onSubmit={submit}>
      {TEXTS.map(({ name, label }) => (
        <label key={name}>
          {label}
          <input name={name} defaultValue={query[name] ?? ''} spellCheck={false} />
        </label>
      ))}
      <label>
        Account
        <select name="account_id" key={accounts.length} defaultValue={query.account_id ?? ''}>
          <option value="">All</option>
          {accounts.map(({ id: accountId, name }) => (
            <option key={accountId} value={accountId}>
              {visible(name)}
            </option>
          ))}
        </select>
      </label>
      <label>
        Result
        <select name="result" defaultValue={query.result ?? ''}>
          <option value="">All</option>
          <option value="succeeded">Succeeded</option>
          <option value="failed">Failed</option>
        </select>
      </label>
      {(['from', 'to'] as const).map((name) => (
        <label key={name} htmlFor={`${id}${name}`}>
          {name === 'from' ? 'From (UTC)' : 'Before (UTC)'}
          <input id={`${id}${name}`} name={name} type="datetime-local" defaultValue={query[name]?.slice(0, 16) ?? ''} />
        </label>
      ))}
      <Button type="submit" kind="primary">
        Search
      </Button>
    </form>
  );
}

function isTime(name: string): boolean {
  return name === 'from' || name === 'to';
}
