/** The whole request log, page after page (specification: "Limits": up to 50 entries a call). */
import { LOG_PAGE } from './generated/facts.gen.ts';
import type { Operations } from './generated/operations.gen.ts';
import type { RequestLogItem } from './generated/types.gen.ts';
import type { CallOptions } from './runtime/options.ts';

/** A list that is loaded as it is read: `for await`, by pages, or as an array. */
export class Paged<Item> implements AsyncIterable<Item> {
  readonly #load: () => AsyncGenerator<Item[]>;

  constructor(load: () => AsyncGenerator<Item[]>) {
    this.#load = load;
  }

  /** The pages as they come; none is empty. */
  pages(): AsyncGenerator<Item[]> {
    return this.#load();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item> {
    for await (const page of this.#load()) yield* page;
  }

  /** @param options `limit`: how many items at the most; all where it is left out. */
  async toArray({ limit = Infinity }: { limit?: number } = {}): Promise<Item[]> {
    const items: Item[] = [];
    if (limit > 0) {
      for await (const page of this.#load()) {
        items.push(...page.slice(0, limit - items.length));
        if (items.length >= limit) break;
      }
    }
    return items;
  }
}

/**
 * The entries of the request log, newest first. Entries that are written while it is read are left out; of the others
 * none is lost and none comes twice.
 */
export function eachRequest(listRequests: Operations['listRequests'], options?: CallOptions): Paged<RequestLogItem> {
  return new Paged(async function* load() {
    let last: string | undefined;
    for (let offset = 0; ;) {
      // An offset counts from the newest entry: new ones, such as that of the last page's own request, push what was read
      // beyond it, and it comes again. What has not been read is never pushed out of the page.
      const page = await listRequests(offset === 0 ? undefined : { offset }, options);
      const seen = last;
      const fresh = seen === undefined ? page : page.slice(page.findIndex(({ requestID }) => requestID === seen) + 1 || page.length);
      if (fresh.length > 0) yield fresh;
      last = fresh.at(-1)?.requestID ?? last;
      offset += page.length;
      if (page.length < LOG_PAGE) return;
    }
  });
}
