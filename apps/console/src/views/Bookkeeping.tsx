import type { ExportBookkeepingData } from '@reseller/operator-client';
import { useState } from 'react';

import { useMayUse } from '../app/session.ts';

type Table = ExportBookkeepingData['path']['table'];

const TABLES: readonly (readonly [table: Table, label: string])[] = [
  ['invoices', 'Invoices'],
  ['credit_notes', 'Credit notes'],
  ['lines', 'Lines'],
  ['payments', 'Payments'],
];

/** Downloads the documents or payments of a range of days as CSV. Without days, it is the month so far. */
export function Bookkeeping() {
  const mayExport = useMayUse('exportBookkeeping');
  const [table, setTable] = useState<Table>('invoices');
  const [from, setFrom] = useState('');
  const [to, setTo] = useState('');
  if (!mayExport) return null;
  const days = Object.entries({ from, to }).filter(([, day]) => day !== '');
  return (
    <div className="toolbar" role="group" aria-label="Export for bookkeeping">
      <select
        aria-label="Table"
        value={table}
        onChange={({ target }) => setTable(TABLES.find(([name]) => name === target.value)?.[0] ?? 'invoices')}
      >
        {TABLES.map(([name, label]) => (
          <option key={name} value={name}>
            {label}
          </option>
        ))}
      </select>
      <label>
        from <input type="date" value={from} onChange={({ target }) => setFrom(target.value)} />
      </label>
      <label>
        to <input type="date" value={to} onChange={({ target }) => setTo(target.value)} />
      </label>
      <a className="button" href={`/bookkeeping/${table}?${new URLSearchParams(days).toString()}`} download={`${table}.csv`}>
        Export CSV
      </a>
    </div>
  );
}
