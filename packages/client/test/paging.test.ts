/** Lists in pages: every item once, in order, with no unnecessary request, whatever the server does meanwhile. */
import { describe, expect, test } from 'vitest';

import { createReseller } from '../src/index.ts';
import type { Fetch } from '../src/index.ts';
import { pagesOf } from '../src/paged-call.ts';
import { envelope } from './scripted-service.ts';

interface List {
  readonly read: (offset: number) => Promise<number[]>;
  readonly offsets: readonly number[];
}

/** A list with this number of items, newest first, in pages. `onRead` runs before each read and may add items. */
function listOf(length: number, pageSize: number, onRead: (items: number[], readings: number) => void = () => {}): List {
  const items = Array.from({ length }, (_, index) => length - index);
  const offsets: number[] = [];
  return {
    offsets,
    read: async (offset) => {
      onRead(items, offsets.push(offset));
      return items.slice(offset, offset + pageSize);
    },
  };
}

async function pagesRead({ read }: List, offset?: number): Promise<number[][]> {
  const pages: number[][] = [];
  for await (const page of pagesOf(read, offset)) pages.push(page);
  return pages;
}

const down = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, index) => from - index);

test.each([{ limt: 3 }, { limit: NaN }, { limit: -1 }, { limit: '3' }])(
  'toArray refuses the options %j and reads nothing',
  async (options) => {
    const { requests } = createReseller({
      apiKey: 'key',
      baseUrl: 'http://a.test',
      fetch: async () => Response.json(envelope([])),
    }).account;
    await expect(Reflect.apply(requests().toArray, undefined, [options])).rejects.toThrow(TypeError);
  },
);

describe('pagesOf', () => {
  test.each([
    [0, [0], []],
    [1, [0, 1], [1]],
    [9, [0, 8], [9]],
    [10, [0, 9], [10]],
    [11, [0, 9], [10, 1]],
    [18, [0, 9], [10, 8]],
    [19, [0, 9, 18], [10, 9]],
    [20, [0, 9, 18], [10, 9, 1]],
  ])('reads %i items in pages of 10 at the offsets %j', async (length, offsets, sizes) => {
    const list = listOf(length, 10);
    const pages = await pagesRead(list);
    expect(pages.flat()).toEqual(down(length, 1));
    expect([list.offsets, pages.map((page) => page.length)]).toEqual([offsets, sizes]);
  });

  test('begins at the given offset', async () => {
    const list = listOf(30, 10);
    expect((await pagesRead(list, 12)).flat()).toEqual(down(18, 1));
    expect(list.offsets).toEqual([12, 21]);
  });

  test.each([1, 3, 9, 10, 11, 25, 40])('omits %i items that arrive before each read, and returns the others once', async (arrivals) => {
    const list = listOf(30, 10, (items, readings) => {
      if (readings > 1 && readings < 4) for (let count = 0; count < arrivals; count++) items.unshift((items[0] ?? 0) + 1);
    });
    const pages = await pagesRead(list);
    expect(pages.flat()).toEqual(down(30, 1));
    for (const page of pages) expect(page).not.toEqual([]);
  });

  test('reads a list with pages of one item', async () => {
    const list = listOf(1, 1);
    expect(await pagesRead(list)).toEqual([[1]]);
    expect(list.offsets).toEqual([0, 1]);
  });

  test('ends at a server that ignores the offset', async () => {
    let readings = 0;
    const same = { read: async () => (readings++, [3, 2, 1]), offsets: [] };
    expect(await pagesRead(same)).toEqual([[3, 2, 1]]);
    // The first page, five pages without a new item, and the page that ends it.
    expect(readings).toBe(7);
  });

  test('ends after a hundred reads without a known item', async () => {
    let next = 0;
    const endless = { read: async () => [++next, ++next], offsets: [] };
    expect(await pagesRead(endless)).toEqual([[1, 2]]);
    // The first page, a hundred pages without a known item, and the page that ends it.
    expect(next / 2).toBe(102);
  });

  test('counts reads without progress from 0 again after each page', async () => {
    const list = listOf(40, 10, (items, readings) => {
      // In 90 consecutive reads, the page has moved again.
      if (readings > 1 && readings % 91 !== 0 && readings < 300)
        items.unshift(...Array.from({ length: 10 }, (_, index) => 10_000 * readings + index));
    });
    expect((await pagesRead(list)).flat()).toEqual(down(40, 1));
  });
});

describe('a paged call', () => {
  const entry = (number: number) => ({ requestID: `id-${number}` });

  /** A client of a server with this number of entries, and the forms that the server received. */
  function start(length: number) {
    const forms: string[] = [];
    const fetch: Fetch = async (_, { body }) => {
      forms.push(String(body ?? ''));
      const offset = Number(new URLSearchParams(String(body ?? '')).get('offset') ?? 0);
      return Response.json(
        envelope(
          down(length, 1)
            .slice(offset, offset + 50)
            .map(entry),
        ),
      );
    };
    return { reseller: createReseller({ apiKey: 'key', baseUrl: 'http://a.test', fetch }), forms };
  }

  test('returns one page if it is awaited', async () => {
    const { reseller, forms } = start(120);
    expect(await reseller.account.requests()).toEqual(down(120, 71).map(entry));
    expect(await reseller.account.requests({ offset: 100 })).toEqual(down(20, 1).map(entry));
    expect(forms).toEqual(['', 'offset=100']);
  });

  test('returns every item if it is iterated, also a second time', async () => {
    const { reseller, forms } = start(120);
    const call = reseller.account.requests({ offset: 10 });
    const items: unknown[] = [];
    for await (const item of call) items.push(item);
    expect(items).toEqual(down(110, 1).map(entry));
    expect(await call.toArray()).toEqual(items);
    // The first iteration does not read the first page again.
    expect(forms).toEqual(['offset=10', 'offset=59', 'offset=108', 'offset=10', 'offset=59', 'offset=108']);
  });

  test.each([
    [0, 0],
    [1, 1],
    [50, 1],
    [51, 2],
    [99, 2],
    [100, 3],
    [500, 3],
  ])('toArray with a limit of %i makes %i requests', async (limit, requests) => {
    const { reseller, forms } = start(120);
    expect(await reseller.account.requests().toArray({ limit })).toEqual(down(120, Math.max(1, 121 - limit)).map(entry));
    expect(forms).toHaveLength(Math.max(1, requests));
  });

  test('ends the iteration if a page fails, and leaves no unhandled rejection if the call is not awaited', async () => {
    const unhandled: unknown[] = [];
    const listen = (reason: unknown) => void unhandled.push(reason);
    process.on('unhandledRejection', listen);
    const fetch = async () => new Response('<html>', { status: 404 });
    const reseller = createReseller({ apiKey: 'key', baseUrl: 'http://a.test', fetch, maxRetries: 0 });
    await expect(reseller.account.requests().toArray()).rejects.toMatchObject({ name: 'ResponseError' });
    await expect(reseller.account.requests().toArray({ limit: 0 })).rejects.toMatchObject({ name: 'ResponseError' });
    await expect(reseller.vm.hosts().withMeta()).rejects.toMatchObject({ name: 'ResponseError' });
    await expect(reseller.vm.hosts().withMeta()).rejects.toMatchObject({ name: 'ResponseError' });
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', listen);
    expect(unhandled).toEqual([]);
  });
});
