/** The whole request log, page after page (specification: "Limits": up to 50 entries a call). */
import { LOG_PAGE } from './generated/facts.gen.ts';
import type { Operations } from './generated/operations.gen.ts';
import type { RequestLogItem } from './generated/types.gen.ts';
import type { CallOptions } from './runtime/options.ts';

/** A list that is loaded as it is read: `for await`, by pages, or as an array. */
export interface Paged<Item> extends AsyncIterable<Item> {
  /** The pages as they come; none is empty. */
  pages(): AsyncGenerator<Item[]>;
  /** @param options `limit`: how many items at the most; all where it is left out. */
  toArray(options?: { limit?: number }): Promise<Item[]>;
}

/**
 * The entries of the request log, newest first. Entries that are written while it is read are left out; of the others
 * none is lost and none comes twice.
 */
export const eachRequest = (listRequests: Operations['listRequests'], options?: CallOptions): Paged<RequestLogItem> => ({
  async *pages() {
    let last: string | undefined;
    let page;
    let offset = 0;
    do {
      // An offset counts from the newest entry: new ones, such as that of the last page's own request, push what was read
      // beyond it, and it comes again. What has not been read is never pushed out of the page.
      page = await listRequests(offset ? { offset } : undefined, options);
      const at = page.findIndex(({ requestID }) => requestID === last);
      const fresh = last && at < 0 ? [] : page.slice(at + 1);
      if (fresh[0]) yield fresh;
      last = fresh.at(-1)?.requestID ?? last;
      offset += page.length;
    } while (page.length >= LOG_PAGE);
  },
  async *[Symbol.asyncIterator]() {
    for await (const page of this.pages()) yield* page;
  },
  async toArray({ limit = Infinity } = {}) {
    const items: RequestLogItem[] = [];
    if (limit > 0) for await (const item of this) if (items.push(item) >= limit) break;
    return items;
  },
});
