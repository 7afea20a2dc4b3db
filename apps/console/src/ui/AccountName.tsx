import type { Account } from '@reseller/operator-client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { Link } from 'wouter';

import { pagesOf } from '../api/queries.ts';
import { ShortId } from './controls.tsx';
import { useRows } from './list.tsx';
import type { Rows } from './list.tsx';
import { visible } from './visible.ts';

export function useAccounts(): Rows<Account> {
  return useRows(useInfiniteQuery(pagesOf('listAccounts', {})));
}

export function useAccountNames(): ReadonlyMap<string, string> {
  const { rows } = useAccounts();
  return useMemo(() => new Map(rows.map(({ id, name }) => [id, name])), [rows]);
}

/** The name of an account, which links to its page. */
export function AccountName({ id, names }: { readonly id: string; readonly names: ReadonlyMap<string, string> }) {
  return (
    <Link href={`/accounts/${id}`} className="ellipsis">
      {names.has(id) ? visible(names.get(id) ?? '') : <ShortId id={id} />}
    </Link>
  );
}
