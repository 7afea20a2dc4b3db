/** One key sends refused forms of 64 KiB as fast as it can, while another account reads. */
import { setTimeout as pause } from 'node:timers/promises';

import { expect, test } from 'vitest';

import { byDepth } from '../../../../.config/depth.ts';
import { startServer } from '../process.ts';
import { tell } from './figures.ts';
import { newPlace } from './place.ts';
import type { Engine } from './place.ts';
import { newAccount } from './provider.ts';
import { ROUNDS } from './random.ts';
import { fetchOf } from './request.ts';

/** Refused forms for each round. */
const FORMS = 200;
const CALLERS = 8;
/** Milliseconds between two reads of the other account. */
const READ_EVERY = 10;
/** 64 KiB, less a few bytes for the names. */
const LENGTH = 65_000;
/** Bytes of a stored request and its response, on average over the kinds of forms. */
const MAX_STORED_BYTES = 12_000;

/** Each of them is refused with its status, and each was once stored whole. */
const forms: readonly { readonly body: string; readonly refusal: number }[] = [
  { body: `offset=1&x=${'%01'.repeat(LENGTH / 3)}`, refusal: 422 },
  { body: `${'n'.repeat(LENGTH)}=1`, refusal: 422 },
  // Too many fields are refused before any is read.
  { body: 'f=a&'.repeat(LENGTH / 4), refusal: 400 },
  { body: `offset=${'1'.repeat(LENGTH)}`, refusal: 422 },
];

test.each<Engine>(byDepth({ usual: ['sqlite'], deep: ['sqlite', 'postgres'] }))(
  'a flood of refused forms on %s stores little, and leaves others served',
  async (engine) => {
    const place = await newPlace(engine);
    const server = await startServer(place.environment());
    const [flooding, reading] = [await newAccount(server), await newAccount(server)];
    const began = performance.now();
    let sent = 0;
    const flood = async (): Promise<void> => {
      while (sent < FORMS * ROUNDS) {
        const { body, refusal } = forms[sent++ % forms.length] ?? { body: '', refusal: 0 };
        const headers = { 'x-service-apikey': flooding.apiKey, 'content-type': 'application/x-www-form-urlencoded' };
        const { status } = await fetch(`${server.baseUrl}/account/requests`, { method: 'POST', headers, body });
        expect(status).toBe(refusal);
      }
    };
    const over = new AbortController();
    const waits: number[] = [];
    const read = async (): Promise<void> => {
      while (!over.signal.aborted) {
        const asked = performance.now();
        expect((await fetchOf(server.baseUrl, reading.apiKey, { method: 'GET', path: '/vm/list/hosts' })).status).toBe(200);
        waits.push(performance.now() - asked);
        await pause(READ_EVERY);
      }
    };
    const reader = read();
    await Promise.all(Array.from({ length: CALLERS }, flood));
    const seconds = (performance.now() - began) / 1000;
    over.abort();
    await reader;
    expect(waits.length).toBeGreaterThan(0);
    await server.end('SIGTERM');

    const stored = await place.examine(async (store) => {
      await store.requestLog.numberAll();
      const rows = await store.read((db) =>
        db
          .selectFrom('request_log')
          .select(['request_body', 'response_body'])
          .where('account_id', '=', flooding.id)
          .where('success', '=', 0)
          .execute(),
      );
      return rows.map(({ request_body, response_body }) => Buffer.byteLength(request_body) + Buffer.byteLength(response_body ?? ''));
    });
    expect(stored).toHaveLength(FORMS * ROUNDS);
    const average = stored.reduce((sum, bytes) => sum + bytes, 0) / stored.length;
    const inOrder = waits.toSorted((one, other) => one - other);
    const quantile = (part: number) => Math.round(inOrder[Math.floor(inOrder.length * part)] ?? 0);
    tell(
      `flood on ${engine}: ${stored.length} refused forms of 64 KiB in ${seconds.toFixed(1)} s, ${Math.round(average)} bytes stored for each (at most ${Math.max(...stored)}); ${waits.length} reads of another account, ${quantile(0.5)} ms in the median, ${quantile(0.99)} ms at the 99th percentile`,
    );
    expect(average).toBeLessThan(MAX_STORED_BYTES);
    expect(Math.max(...stored)).toBeLessThan(2 * MAX_STORED_BYTES);
  },
);
