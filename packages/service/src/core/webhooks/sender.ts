/** Sends due deliveries. */
import { Webhook as Signer } from 'standardwebhooks';
import { v7 as uuidv7 } from 'uuid';

import type { Runtime } from '../../delivery/runtime.ts';
import { systemClock } from '../../ports/system.ts';
import type { Clock } from '../../ports/system.ts';
import { payloadOf } from '../events/feed.ts';
import { claimDue, storeAttempt, webhooksWithDue } from './deliveries.ts';
import type { Claimed } from './deliveries.ts';
import { post, REQUEST_TIMEOUT_MS } from './post.ts';
import { allowsLoopback } from './webhook-url.ts';
import { secretsOf } from './webhook.ts';
import type { Webhook } from './webhook.ts';

/** A claim outlasts the request by this time for the store. The claim of an instance that died ends then. */
const CLAIM_MARGIN_MS = 90_000;

export interface WebhookSender {
  /** Begins to send what is due, and does not wait for it. */
  begin(): void;
  /** Ends the requests that are being sent. They are sent again later. */
  close(): Promise<void>;
}

/**
 * Requests do not wait for those of other webhooks. A webhook whose last attempt failed gets one at a time, and such webhooks share half of all
 * requests, so that those that hang do not delay the others.
 *
 * @param onFailure Called if the store fails.
 */
export function createWebhookSender(runtime: Runtime, clock: Clock, onFailure: (error: unknown) => void): WebhookSender {
  const { store } = runtime;
  const { webhookRequests, webhookRequestsEach } = store.tuning;
  const closing = new AbortController();
  const running = new Set<Promise<void>>();
  /** The requests of each webhook, and those of failing and of other webhooks. */
  const counts = new Map<string, number>();
  let looking: Promise<void> | undefined;
  let looksAgain = false;

  function count(name: string, change: 1 | -1): void {
    const next = (counts.get(name) ?? 0) + change;
    if (next === 0) counts.delete(name);
    else counts.set(name, next);
  }

  async function look(): Promise<void> {
    do {
      looksAgain = false;
      const now = clock.now();
      for (const webhook of await store.read((db) => webhooksWithDue(db, now))) await startDue(webhook, now);
    } while (looksAgain && !closing.signal.aborted);
  }

  async function startDue(webhook: Webhook, now: number): Promise<void> {
    const half = webhook.failing_since === null ? 'others' : 'failing';
    const each = half === 'failing' ? 1 : webhookRequestsEach;
    const limit = Math.min(each - (counts.get(webhook.id) ?? 0), Math.ceil(webhookRequests / 2) - (counts.get(half) ?? 0));
    if (limit <= 0 || closing.signal.aborted) return;
    const claim = { until: now + REQUEST_TIMEOUT_MS + CLAIM_MARGIN_MS, name: newName };
    for (const claimed of await store.commit(({ db }) => claimDue(db, { webhookId: webhook.id, limit, now }, claim))) {
      count(webhook.id, 1);
      count(half, 1);
      const request = send(webhook, claimed)
        .catch(onFailure)
        .finally(() => {
          count(webhook.id, -1);
          count(half, -1);
          running.delete(request);
        });
      running.add(request);
    }
  }

  function newName(): string {
    return uuidv7({ random: runtime.ports.random.bytes(16) });
  }

  async function send(webhook: Webhook, claimed: Claimed): Promise<void> {
    const body = payloadOf(claimed.event);
    const secrets = await store.read((db) => secretsOf(db, runtime, { id: webhook.id, now: clock.now() }));
    const attempt = await post({
      url: webhook.url,
      body,
      headers: headersOf(claimed.event.id, body, secrets),
      loopback: allowsLoopback(runtime),
      signal: closing.signal,
    });
    if (closing.signal.aborted && attempt.error !== undefined) return;
    await store.commit(({ db }) => storeAttempt(db, claimed, { attempt, now: clock.now() }));
    // A webhook that fails waits for the next round.
    if (attempt.error === undefined) begin();
  }

  function begin(): void {
    looksAgain = true;
    if (looking || closing.signal.aborted) return;
    looking = look()
      .catch(onFailure)
      .finally(() => (looking = undefined));
  }

  return {
    begin,
    async close() {
      closing.abort();
      await looking;
      await Promise.all(running);
    },
  };
}

/** The headers of Standard Webhooks. Receivers compare the time with their own clocks, so it is that of the machine, also in a sandbox. */
function headersOf(id: string, body: string, secrets: readonly string[]): Record<string, string> {
  const sent = new Date(systemClock.now());
  return {
    'content-type': 'application/json',
    'user-agent': 'reseller-webhooks/1',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(sent.getTime() / 1000)),
    'webhook-signature': secrets.map((secret) => new Signer(secret).sign(id, sent, body)).join(' '),
  };
}
