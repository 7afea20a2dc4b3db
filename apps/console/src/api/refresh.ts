/** Reads again what a change may have touched. A long list is not read again as a whole: only the rows of the change are. */
import type { OperationId } from '@reseller/operator-client';
import type { InfiniteData, Query, QueryClient } from '@tanstack/react-query';

import { isOperation } from '../document/known.ts';
import { operations } from '../document/operations.data.ts';
import { send } from './client.ts';
import type { News } from './feed.ts';
import { statusOf } from './problem.ts';
import { isLong } from './queries.ts';
import type { ListPage } from './queries.ts';

type ResourceKind = 'vm' | 'domain' | 'server' | 'account' | 'invoice';
type ListItem = Readonly<Record<string, unknown>>;

/** How the items of a list are read one by one. */
interface RowReader {
  readonly kind: ResourceKind;
  readonly read: OperationId;
  /** The path parameter, and the property of the item that has its value. */
  readonly parameter: string;
  readonly key: string;
  /** The property by which the list is sorted. */
  readonly sortedBy: string;
  readonly direction: 'asc' | 'desc';
}

const READERS: Partial<Record<string, RowReader>> = {
  listVms: { kind: 'vm', read: 'getVm', parameter: 'vm_id', key: 'id', sortedBy: 'created', direction: 'desc' },
  listDomains: { kind: 'domain', read: 'getDomain', parameter: 'domain', key: 'name', sortedBy: 'name', direction: 'asc' },
  listDedicatedServers: {
    kind: 'server',
    read: 'getDedicatedServer',
    parameter: 'server_id',
    key: 'id',
    sortedBy: 'ordered',
    direction: 'desc',
  },
  listAccounts: { kind: 'account', read: 'getAccount', parameter: 'account_id', key: 'id', sortedBy: 'created', direction: 'asc' },
  listInvoices: { kind: 'invoice', read: 'getInvoice', parameter: 'invoice_id', key: 'id', sortedBy: 'created', direction: 'desc' },
};
/** The kind of the first parameter of a path of the operator API. */
const RESOURCE_KINDS: Readonly<Record<string, ResourceKind>> = {
  vm_id: 'vm',
  domain: 'domain',
  server_id: 'server',
  account_id: 'account',
  invoice_id: 'invoice',
};
/** With more, a list is read again as a whole. */
const MOST_ROWS = 50;
const NO_SUCH = 404;

/** @param news What may have changed something. Without it, everything may have changed. */
export function refresh(queryClient: QueryClient, news?: News): void {
  const touched = news && touchedBy(news);
  void queryClient.invalidateQueries({
    predicate: (query) => query.queryKey[0] !== 'session' && (touched === undefined || rowsOf(query) === undefined),
  });
  if (touched === undefined) return;
  for (const query of queryClient.getQueryCache().findAll({ type: 'active' })) {
    const rows = rowsOf(query);
    if (rows !== undefined) void refreshRows(queryClient, query, rows, [...(touched.get(rows.kind) ?? [])]);
  }
}

/** How the rows of a long list are read. Undefined for all other queries. */
function rowsOf(query: Query): RowReader | undefined {
  return isLong(query.state.data) ? READERS[String(query.queryKey[0])] : undefined;
}

/** The resources that a change may have touched, by their kind. Undefined if it may be any. */
function touchedBy({ requests, changes }: News): ReadonlyMap<ResourceKind, ReadonlySet<string>> | undefined {
  const touched = new Map<ResourceKind, Set<string>>();
  function add(kind: ResourceKind, id: string): void {
    touched.set(kind, (touched.get(kind) ?? new Set()).add(id));
  }
  for (const { account_id, endpoint, bought } of requests) {
    add('account', account_id);
    const [, area, id = ''] = endpoint.split('/');
    if (area === 'vm' && /^\d+$/.test(id)) add('vm', id);
    if (area === 'domain' && id.includes('.')) add('domain', decodeURIComponent(id));
    if (area === 'dedicated' && id.includes('-')) add('server', id);
    if (bought !== null) add(bought.kind === 'vm' ? 'vm' : bought.kind === 'domain' ? 'domain' : 'server', bought.subject);
  }
  for (const { operation, target } of changes) {
    const parameter = /\{(\w+)\}/.exec(isOperation(operation) ? operations[operation].path : '')?.[1] ?? '';
    const kind = RESOURCE_KINDS[parameter] ?? (operation === 'createAccount' ? 'account' : undefined);
    if (kind === undefined || target === null) return undefined;
    add(kind, target);
  }
  return touched;
}

async function refreshRows(queryClient: QueryClient, query: Query, rows: RowReader, ids: readonly string[]): Promise<void> {
  if (ids.length > MOST_ROWS) return queryClient.invalidateQueries({ queryKey: query.queryKey, exact: true });
  const read = await Promise.all(ids.map(async (id) => ({ id, item: await itemOf(rows, id) })));
  queryClient.setQueryData<InfiniteData<ListPage<ListItem>>>(query.queryKey, (data) => {
    if (data === undefined) return data;
    let { pages } = data;
    for (const { id, item } of read) pages = replaced(pages, rows, id, item);
    return { ...data, pages };
  });
}

/** Undefined if it no longer exists. */
async function itemOf({ read, parameter }: RowReader, id: string): Promise<ListItem | undefined> {
  try {
    return await send<ListItem>(read, { path: { [parameter]: id } });
  } catch (error) {
    if (statusOf(error) === NO_SUCH) return undefined;
    throw error;
  }
}

/** The pages with an item in its place. */
function replaced(
  pages: readonly ListPage<ListItem>[],
  { key, sortedBy, direction }: RowReader,
  id: string,
  item: ListItem | undefined,
): ListPage<ListItem>[] {
  // The identifier of a VM is used again.
  function isSame(one: ListItem): boolean {
    return String(one[key]) === id && (item === undefined || one['created'] === item['created']);
  }
  const found = pages.some(({ items }) => items.some(isSame));
  if (found)
    return pages.map((page) =>
      page.items.some(isSame)
        ? { ...page, items: page.items.flatMap((one) => (!isSame(one) ? [one] : item === undefined ? [] : [item])) }
        : page,
    );
  if (item === undefined) return [...pages];
  const value = String(item[sortedBy]);
  function isLater(one: ListItem): boolean {
    return direction === 'asc' ? String(one[sortedBy]) > value : String(one[sortedBy]) <= value;
  }
  const at = pages.findIndex(({ items }) => items.some(isLater));
  return pages.map((page, index) => {
    if (index !== (at < 0 ? pages.length - 1 : at)) return page;
    const place = page.items.findIndex(isLater);
    return { ...page, items: place < 0 ? [...page.items, item] : page.items.toSpliced(place, 0, item) };
  });
}
