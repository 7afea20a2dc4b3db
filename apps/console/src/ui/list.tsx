/** Lists that the service returns in pages. */
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import { useDeferredValue, useEffect, useId, useMemo } from 'react';
import type { ReactNode } from 'react';
import { useSearchParams } from 'wouter';

import type { ListPage } from '../api/queries.ts';
import { EmptyState, Failure } from './controls.tsx';
import { DataTable } from './DataTable.tsx';
import type { DataTableProps } from './DataTable.tsx';

export interface Rows<Item> {
  readonly rows: readonly Item[];
  readonly isLoading: boolean;
  readonly error: unknown;
}

/** All items of a list. Further pages are read in the background. */
export function useRows<Item, Failed>(query: UseInfiniteQueryResult<InfiniteData<ListPage<Item>, unknown>, Failed>): Rows<Item> {
  const { data, hasNextPage, isFetching, isPending, error, fetchNextPage } = query;
  useEffect(() => {
    if (hasNextPage && !isFetching && error === null) void fetchNextPage();
  }, [hasNextPage, isFetching, error, fetchNextPage]);
  const rows = useMemo(() => data?.pages.flatMap(({ items }) => items) ?? [], [data]);
  return { rows, isLoading: isPending, error };
}

/** A text that is in the address, so that Back, a reload and a colleague have it too. */
export function useInAddress(name: string): readonly [text: string, setText: (text: string) => void] {
  const [params, setParams] = useSearchParams();
  function setText(text: string): void {
    setParams(
      (before) => {
        const after = new URLSearchParams(before);
        if (text === '') after.delete(name);
        else after.set(name, text);
        return after;
      },
      { replace: true },
    );
  }
  return [params.get(name) ?? '', setText];
}

interface FilteredListProps<Row> extends Omit<DataTableProps<Row>, 'rows' | 'isLoading'> {
  readonly list: Rows<Row>;
  /** The texts by which a row is found. */
  readonly textOf: (row: Row) => string;
  readonly toolbar?: ReactNode;
}

/** A list with a filter. */
export function FilteredList<Row>({ list, textOf, toolbar, ...table }: FilteredListProps<Row>) {
  const [text, setText] = useInAddress('filter');
  const wanted = useDeferredValue(text.trim().toLowerCase());
  const { rows, isLoading, error } = list;
  const found = useMemo(
    () => (wanted === '' ? rows : rows.filter((row) => textOf(row).toLowerCase().includes(wanted))),
    [rows, wanted, textOf],
  );
  return (
    <div className="list">
      <div className="filters">
        <FilterBox text={text} onText={setText} label={`Filter: ${table.caption}`} />
        <Count shown={found.length} total={rows.length} />
        {toolbar}
      </div>
      {error !== null && <Failure error={error} />}
      {found.length === 0 && rows.length > 0 ? (
        <EmptyState title="Nothing matches the filter" text="Remove a word from it." />
      ) : (
        <DataTable {...table} rows={found} isLoading={isLoading} />
      )}
    </div>
  );
}

export function FilterBox({
  text,
  onText,
  label,
}: {
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly label: string;
}) {
  const id = useId();
  return (
    <>
      <label htmlFor={id} className="hidden">
        {label}
      </label>
      <input id={id} type="search" placeholder="Filter" value={text} spellCheck={false} onChange={({ target }) => onText(target.value)} />
    </>
  );
}

export function Count({ shown, total }: { readonly shown: number; readonly total: number }) {
  const text = shown === total ? total.toLocaleString('en') : `${shown.toLocaleString('en')} of ${total.toLocaleString('en')}`;
  return (
    <span className="muted number" aria-live="polite">
      {text}
    </span>
  );
}
