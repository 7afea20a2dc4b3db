/** The requests of all accounts and the changes of the team as they arrive, and whether the service can be reached. */
import { followRequests, listRequests } from '@reseller/operator-client';
import type { OperatorChange, RequestSummary } from '@reseller/operator-client';

import { client } from './client.ts';
import { statusOf } from './problem.ts';

const POLL_MS = 500;
/** Less often while no person sees the page. */
const HIDDEN_POLL_MS = 10_000;
const LIMIT = 200;
/** The oldest requests beyond this number are forgotten. The service still has them. */
const MAX_REQUESTS = 100_000;

export interface FeedState {
  /** Newest first. */
  readonly requests: readonly RequestSummary[];
  readonly connection: 'connecting' | 'connected' | 'lost';
}

export interface Feed {
  subscribe(listener: () => void): () => void;
  state(): FeedState;
  /** Forgets everything, for example after a reset of the sandbox. */
  clear(): void;
  /** Asks at once. */
  poll(): void;
  stop(): void;
}

/** What may have changed something. */
export interface News {
  /** Requests that succeeded and did not only read. */
  readonly requests: readonly RequestSummary[];
  readonly changes: readonly OperatorChange[];
}

export interface FeedEvents {
  onChange(news: News): void;
  /** Called when the service can be reached again. */
  onRecovery(): void;
}

export function createFeed({ onChange, onRecovery }: FeedEvents): Feed {
  const listeners = new Set<() => void>();
  let current: FeedState = { requests: [], connection: 'connecting' };
  let cursor: string | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let generation = 0;

  function set(next: FeedState): void {
    current = next;
    for (const listener of listeners) listener();
  }

  async function ask(): Promise<void> {
    const asked = generation;
    try {
      if (cursor === undefined) await begin(asked);
      else while (await follow(asked, cursor));
    } catch (error) {
      if (asked !== generation) return;
      const status = statusOf(error) ?? 0;
      if ((status === 0 || status >= 500) && current.connection !== 'lost') set({ ...current, connection: 'lost' });
    }
  }

  /** The place to follow from, and the newest requests. One that arrives between the two requests is in both. */
  async function begin(asked: number): Promise<void> {
    const { next_cursor: end } = await followRequests({ client, maxRetries: 0, query: {} });
    const { items } = await listRequests({ client, maxRetries: 0, query: { limit: LIMIT } });
    if (asked !== generation) return;
    cursor = end;
    received(items);
  }

  /** @returns Whether more may have arrived. */
  async function follow(asked: number, from: string): Promise<boolean> {
    const { items, changes, next_cursor: next } = await followRequests({ client, maxRetries: 0, query: { cursor: from, limit: LIMIT } });
    if (asked !== generation) return false;
    cursor = next;
    received(items.toReversed());
    const requests = items.filter(({ success, method }) => success && method !== 'GET');
    if (requests.length + changes.length > 0) onChange({ requests, changes });
    return items.length === LIMIT || changes.length === LIMIT;
  }

  /** @param items Newest first. */
  function received(items: readonly RequestSummary[]): void {
    const wasLost = current.connection === 'lost';
    const newest = new Set(current.requests.slice(0, LIMIT).map(({ request_id }) => request_id));
    const fresh = items.filter(({ request_id }) => !newest.has(request_id));
    if (fresh.length > 0 || current.connection !== 'connected')
      set({ requests: [...fresh, ...current.requests].slice(0, MAX_REQUESTS), connection: 'connected' });
    if (wasLost) onRecovery();
  }

  async function run(): Promise<void> {
    const own = generation;
    await ask();
    if (own === generation) timer = setTimeout(() => void run(), document.hidden ? HIDDEN_POLL_MS : POLL_MS);
  }

  function restart(): void {
    generation++;
    clearTimeout(timer);
    void run();
  }

  document.addEventListener('visibilitychange', restart);
  void run();
  return {
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    state: () => current,
    clear() {
      cursor = undefined;
      set({ ...current, requests: [] });
      restart();
    },
    poll: restart,
    stop() {
      generation++;
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', restart);
    },
  };
}
