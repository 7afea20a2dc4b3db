/**
 * The requests of all accounts as they arrive, and whether the service can be reached. The service has no events yet, so this asks for what is
 * new: an idle service responds with an empty list.
 */
import { listRequests } from '@reseller/operator-client';
import type { RequestSummary } from '@reseller/operator-client';

import { client } from './client.ts';
import { statusOf } from './problem.ts';

const POLL_MS = 500;
/** Less often while no person sees the page. */
const HIDDEN_POLL_MS = 10_000;
const LIMIT = 200;
/** The oldest requests beyond this number are forgotten. */
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

export interface FeedEvents {
  /** Called when a request may have changed something. */
  onChange(): void;
  /** Called when the service can be reached again. */
  onRecovery(): void;
}

export function createFeed({ onChange, onRecovery }: FeedEvents): Feed {
  const listeners = new Set<() => void>();
  let current: FeedState = { requests: [], connection: 'connecting' };
  let seen = new Set<string>();
  let since: string | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let generation = 0;

  function set(next: FeedState): void {
    current = next;
    for (const listener of listeners) listener();
  }

  async function ask(): Promise<void> {
    const asked = generation;
    try {
      const query = { limit: LIMIT, ...(since === undefined ? {} : { since }) };
      const { items, next_since: nextSince } = await listRequests({ client, maxRetries: 0, query });
      if (asked !== generation) return;
      receive(items, nextSince);
    } catch (error) {
      if (asked !== generation) return;
      const status = statusOf(error) ?? 0;
      if ((status === 0 || status >= 500) && current.connection !== 'lost') set({ ...current, connection: 'lost' });
    }
  }

  function receive(items: readonly RequestSummary[], nextSince: string): void {
    const isFirst = since === undefined;
    const wasLost = current.connection === 'lost';
    since = nextSince;
    const fresh = items.filter(({ request_id }) => !seen.has(request_id));
    for (const { request_id } of fresh) seen.add(request_id);
    if (fresh.length > 0 || current.connection !== 'connected') set({ requests: merged(fresh, current.requests), connection: 'connected' });
    if (wasLost) onRecovery();
    else if (!isFirst && fresh.some(({ success, method }) => success && method !== 'GET')) onChange();
  }

  function merged(fresh: readonly RequestSummary[], known: readonly RequestSummary[]): readonly RequestSummary[] {
    if (fresh.length === 0) return known;
    const all = [...fresh, ...known];
    if (all.length <= MAX_REQUESTS) return all;
    const kept = all.slice(0, MAX_REQUESTS);
    seen = new Set(kept.map(({ request_id }) => request_id));
    return kept;
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
      seen = new Set();
      since = undefined;
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
