/** TanStack Query options of the operations that read. The types are those of the functions of the client. */
import type * as operatorClient from '@reseller/operator-client';
import type { OperationId } from '@reseller/operator-client';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';

import { send } from './client.ts';

type Functions = typeof operatorClient;
type Input<Id extends OperationId> = Pick<Parameters<Functions[Id]>[0], 'path' | 'query'>;
type Data<Id extends OperationId> = Awaited<ReturnType<Functions[Id]>>;

export function queryOf<Id extends OperationId>(id: Id, input: Input<Id>) {
  return queryOptions({ queryKey: [id, input], queryFn: ({ signal }) => send<Data<Id>>(id, input, signal) });
}

export interface ListPage<Item> {
  readonly items: readonly Item[];
  readonly next_cursor: string | null;
}

type ItemOf<Id extends OperationId> = Data<Id> extends ListPage<infer Item> ? Item : never;

/** The most items that a page of a list has. */
const LIMIT = 200;
/** Longer lists are read again only after a change. */
const LIVE_PAGES = 2;
const REFRESH_MS = 5_000;

/** Whether the data of a query are a list that is too long to be read again regularly. */
export function isLong(data: unknown): boolean {
  const { pages }: { readonly pages?: unknown } = Object(data);
  return Array.isArray(pages) && pages.length > LIVE_PAGES;
}

/** A list in pages, which follow each other by their cursor. A short list is read again regularly. */
export function pagesOf<Id extends OperationId>(id: Id, { path, query }: Input<Id>) {
  return infiniteQueryOptions({
    queryKey: [id, 'pages', path, query],
    queryFn: ({ pageParam, signal }) =>
      send<ListPage<ItemOf<Id>>>(id, { path, query: { limit: LIMIT, ...query, cursor: pageParam } }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    refetchInterval: ({ state }) => (isLong(state.data) ? false : REFRESH_MS),
  });
}
