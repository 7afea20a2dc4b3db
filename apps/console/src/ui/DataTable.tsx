/** A table of which only the visible rows are in the page, so that 100,000 rows cost no more than 50. */
import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef } from 'react';
import type { KeyboardEvent, ReactNode } from 'react';
import { Link } from 'wouter';

import { EmptyState } from './controls.tsx';
import type { Empty } from './controls.tsx';

/** The height of a row with one line. Texts are not cut where fingers point, so a row may have more. */
function usualRowPx(): number {
  return globalThis.matchMedia('(max-width: 42rem), (pointer: coarse)').matches ? 45 : 33;
}

export interface Column<Row> {
  readonly header: string;
  /** A CSS width. The columns without one share the rest. */
  readonly width?: string;
  readonly align?: 'right';
  /** Not shown on a narrow screen. */
  readonly wide?: boolean;
  readonly cell: (row: Row) => ReactNode;
  /** The value by which a list is sorted when the person chooses the column. Null comes last. */
  readonly sortBy?: (row: Row) => string | number | bigint | null;
}

export interface DataTableProps<Row> {
  /** What the table contains, for screen readers. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  /** The page of a row. The first cell links to it. */
  readonly href?: (row: Row) => string;
  readonly actions?: (row: Row) => ReactNode;
  readonly empty: Empty;
  readonly isLoading?: boolean;
  readonly selected?: string | undefined;
  readonly sorting?: Sorting;
}

/** The header of the column by which the rows are sorted, and how another is chosen. */
export interface Sorting {
  readonly header: string | undefined;
  readonly isDescending: boolean;
  readonly choose: (header: string) => void;
}

export function DataTable<Row>(props: DataTableProps<Row>) {
  const { caption, columns, rows, rowKey, actions, empty, isLoading = false, sorting } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: usualRowPx,
    getItemKey: (index) => {
      const row = rows[index];
      return row === undefined ? index : rowKey(row);
    },
    overscan: 10,
  });
  const items = virtualizer.getVirtualItems();
  const above = items[0]?.start ?? 0;
  const below = virtualizer.getTotalSize() - (items.at(-1)?.end ?? 0);
  if (rows.length === 0 && !isLoading) return <EmptyState {...empty} />;

  function moveFocus(event: KeyboardEvent<HTMLTableSectionElement>): void {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    const row = event.target instanceof Element ? event.target.closest('tr') : null;
    if (step === 0 || row === null || !(event.target instanceof HTMLAnchorElement)) return;
    event.preventDefault();
    const index = Number(row.dataset['index']) + step;
    if (index < 0 || index >= rows.length) return;
    virtualizer.scrollToIndex(index);
    requestAnimationFrame(() => scroller.current?.querySelector<HTMLElement>(`tr[data-index="${index}"] a`)?.focus());
  }

  return (
    <div className="table-box" ref={scroller} tabIndex={0} role="region" aria-label={caption}>
      <table aria-rowcount={rows.length + 1} aria-busy={isLoading}>
        <caption className="hidden">{caption}</caption>
        <colgroup>
          {columns.map(({ header, width, wide }) => (
            <col key={header} className={wide ? 'wide' : ''} {...(width === undefined ? {} : { style: { width } })} />
          ))}
          {actions && <col className="actions-column" />}
        </colgroup>
        <thead>
          <tr>
            {columns.map((column) => (
              <ColumnHeader key={column.header} {...column} sorting={sorting} />
            ))}
            {actions && (
              <th scope="col">
                <span className="hidden">Actions</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody onKeyDown={moveFocus}>
          <Space height={above} />
          {items.map(({ index, key }) => {
            const row = rows[index];
            return row === undefined ? null : <DataRow key={key} row={row} index={index} measure={virtualizer.measureElement} {...props} />;
          })}
          <Space height={below} />
        </tbody>
      </table>
    </div>
  );
}

function ColumnHeader<Row>({ header, align, wide, sortBy, sorting }: Column<Row> & { readonly sorting: Sorting | undefined }) {
  const className = `${align ?? ''} ${wide ? 'wide' : ''}`;
  if (sorting === undefined || sortBy === undefined)
    return (
      <th scope="col" className={className}>
        {header}
      </th>
    );
  const isSorted = sorting.header === header;
  return (
    <th scope="col" className={className} aria-sort={!isSorted ? 'none' : sorting.isDescending ? 'descending' : 'ascending'}>
      <button type="button" className="sort" onClick={() => sorting.choose(header)}>
        {header}
        {isSorted && <span aria-hidden="true">{sorting.isDescending ? ' ↓' : ' ↑'}</span>}
      </button>
    </th>
  );
}

/** Stands for the rows that are not in the page. */
function Space({ height }: { readonly height: number }) {
  return height <= 0 ? null : (
    <tr aria-hidden="true" className="space">
      <td style={{ height }} />
    </tr>
  );
}

function DataRow<Row>({
  row,
  index,
  columns,
  href,
  actions,
  rowKey,
  selected,
  measure,
}: DataTableProps<Row> & { readonly row: Row; readonly index: number; readonly measure: (element: HTMLElement | null) => void }) {
  const isSelected = selected !== undefined && rowKey(row) === selected;
  return (
    <tr ref={measure} data-index={index} aria-rowindex={index + 2} className={isSelected ? 'selected' : ''}>
      {columns.map(({ header, align, wide, cell }, column) => (
        <td key={header} className={`${align ?? ''} ${wide ? 'wide' : ''}`}>
          {column === 0 && href ? (
            <Link href={href(row)} className="row-link" {...(isSelected ? { 'aria-current': 'true' as const } : {})}>
              {cell(row)}
            </Link>
          ) : (
            cell(row)
          )}
        </td>
      ))}
      {actions && <td className="actions-cell">{actions(row)}</td>}
    </tr>
  );
}
