/** Lists that come in pages (specification: "Limits": the request log has up to 50 items per call). */
import type { Call } from './runtime/call.ts';
import { checkOptions } from './runtime/check-options.ts';

/** A call that returns one page. Iterated, it returns every item, and reads further pages as they are needed. */
export interface PagedCall<Item> extends Call<Item[]>, PagedMethods<Item> {}

/** The additional members of a paged call. */
export interface PagedMethods<Item> extends AsyncIterable<Item> {
  /** The pages. None is empty. */
  pages(): AsyncGenerator<Item[]>;
  /** The items as an array. `limit` is the largest number of items; by default, all of them. */
  toArray(options?: { limit?: number }): Promise<Item[]>;
}

/**
 * Begins with one page.
 *
 * @param readPage Reads the page that begins after the `offset` newest items; without an offset, the one that the form names.
 */
export function pagedCall<Item>(
  readPage: (form?: { readonly offset: number }) => Call<Item[]>,
  form: { readonly offset?: number | undefined } = {},
): PagedCall<Item> {
  const call = readPage();
  let first: Call<Item[]> | undefined = call;
  function pages() {
    // A caller that iterates need not handle the rejection of the call as well.
    call.catch(() => {});
    return pagesOf(async (offset) => {
      const page = first ?? readPage({ offset });
      first = undefined;
      return page;
    }, form.offset);
  }
  return Object.assign(call, pagedMethods(pages));
}

function pagedMethods<Item>(pages: () => AsyncGenerator<Item[]>): PagedMethods<Item> {
  const methods: PagedMethods<Item> = {
    pages,
    async *[Symbol.asyncIterator]() {
      for await (const page of pages()) yield* page;
    },
    async toArray(options = {}) {
      checkOptions('toArray', options, ['limit']);
      const { limit = Infinity } = options;
      const items: Item[] = [];
      for await (const item of methods) if (limit <= 0 || items.push(item) >= limit) break;
      return items;
    },
  };
  return methods;
}

/** Maximum number of reads without progress, for a server that ignores the offset. */
const MAX_PAGES_WITHOUT_PROGRESS = 100;
/**
 * A page can end with the item that was returned last: a page of new items arrived, or the server ignores the offset. Only further
 * readings tell.
 */
const MAX_REPEATED_PAGES = 5;

/**
 * Every page of a list that is newest first. Items that arrive while it is read are left out; every other item is returned exactly once.
 *
 * New items push older ones to higher offsets. Each page is therefore read from the last item that was returned, and what comes after that
 * item is new to the caller, whether or not the server logs the reading itself.
 *
 * @param readPage Reads the items after the `offset` newest.
 * @param offset Where to begin.
 */
export async function* pagesOf<Item>(readPage: (offset: number) => Promise<Item[]>, offset = 0): AsyncGenerator<Item[]> {
  const first = await readPage(offset);
  let page = first;
  let next = offset;
  let lastReturned: string | undefined;
  let pagesWithoutProgress = 0;
  while (page.length > 0) {
    const at = lastReturned === undefined ? -1 : page.findIndex((item) => identityOf(item) === lastReturned);
    const isMissed = lastReturned !== undefined && at < 0;
    const fresh = isMissed ? [] : page.slice(at + 1);
    const last = fresh.at(-1);
    if (last !== undefined) {
      yield fresh;
      lastReturned = identityOf(last);
      pagesWithoutProgress = 0;
    } else if (++pagesWithoutProgress > (isMissed ? MAX_PAGES_WITHOUT_PROGRESS : MAX_REPEATED_PAGES)) return;
    if (page.length < first.length) return;
    next = Math.max(1, next + page.length - (isMissed ? 0 : 1));
    page = await readPage(next);
  }
}

/** Items have no common identifier, so the whole item identifies itself. */
function identityOf(item: unknown): string {
  return JSON.stringify(item);
}
