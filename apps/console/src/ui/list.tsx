/** Lists that the service returns in pages. */
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import { useDeferredValue, useEffect, useId, useMemo } from 'react';
import type { ReactNode } from 'react';
import { useSearchParams } from 'wouter';

import type { ListPage } from '../api/queries.ts';
import { EmptyState, Failure } from './controls.tsx';
import { DataTable } from './DataTable.tsx';
import type { Column, DataTableProps, Sorting } from './DataTable.tsx';

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

interface FilteredListProps<Row> extends Omit<DataTableProps<Row>, 'rows' | 'isLoading' | 'sorting'> {
  readonly list: Rows<Row>;
  /** The texts by which a row is found. */
  readonly textOf: (row: Row) => string;
  readonly toolbar?: ReactNode;
}

/** The sorting of a list, in the address. The first choice of a column sorts upwards, the second downwards, and the third ends it. */
function useSorting(): Sorting {
  const [text, setText] = useInAddress('sort');
  const isDescending = text.startsWith('-');
  const header = isDescending ? text.slice(1) : text;
  function choose(chosen: string): void {
    setText(chosen !== header ? chosen : isDescending ? '' : `-${chosen}`);
  }
  return { header: header === '' ? undefined : header, isDescending, choose };
}

const texts = new Intl.Collator('en', { numeric: true });

function sortedRows<Row>(rows: readonly Row[], columns: readonly Column<Row>[], { header, isDescending }: Sorting): readonly Row[] {
  const sortBy = columns.find((column) => column.header === header)?.sortBy;
  if (sortBy === undefined) return rows;
  return rows
    .map((row) => ({ row, value: sortBy(row) }))
    .toSorted(({ value: one }, { value: other }) => {
      if (one === null || other === null) return Number(one === null) - Number(other === null);
      const order = typeof one === 'string' || typeof other === 'string' ? texts.compare(String(one), String(other)) : compared(one, other);
      return isDescending ? -order : order;
    })
    .map(({ row }) => row);
}

function compared(one: number | bigint, other: number | bigint): number {
  return one < other ? -1 : Number(one > other);
}

/** A list with a filter, sorted by a column that the person chooses. */
export function FilteredList<Row>({ list, textOf, toolbar, ...table }: FilteredListProps<Row>) {
  const [text, setText] = useInAddress('filter');
  const wanted = useDeferredValue(text.trim().toLowerCase());
  const { rows, isLoading, error } = list;
  const sorting = useSorting();
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
        <DataTable {...table} rows={sortedRows(found, table.columns, sorting)} isLoading={isLoading} sorting={sorting} />
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
