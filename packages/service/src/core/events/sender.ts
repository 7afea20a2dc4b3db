/** Sends due deliveries. */
import { Webhook as Signer } from 'standardwebhooks';
import { v7 as uuidv7 } from 'uuid';

import type { Runtime } from '../../delivery/runtime.ts';
import { systemClock } from '../../ports/system.ts';
import type { Clock } from '../../ports/system.ts';
import { claimDueDeliveries, storeAttempt, webhooksWithDue } from './deliveries.ts';
import type { Claimed, Webhook } from './deliveries.ts';
import { payloadOf } from './feed.ts';
import { post, REQUEST_TIMEOUT_MS } from './post.ts';
import { allowsLoopback } from './webhook-url.ts';
import { secretsOf } from './webhook.ts';

/** A claim outlasts the request by this time for the store. The claim of an instance that died ends then. */
const CLAIM_MARGIN_MS = 90_000;

export interface WebhookSender {
  /** Begins to send what is due, and does not wait for it. */
  begin(): void;
  /** Ends the requests that are being sent. They are sent again later. */
  close(): Promise<void>;
}

/** Counts by name. */
function createCounts() {
  const counts = new Map<string, number>();
  return {
    of: (name: string): number => counts.get(name) ?? 0,
    add(name: string, change: 1 | -1): void {
      const next = (counts.get(name) ?? 0) + change;
      if (next === 0) counts.delete(name);
      else counts.set(name, next);
    },
  };
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
  const { signal } = closing;
  const running = new Set<Promise<void>>();
  /** Requests of each webhook, and those of failing and of other webhooks. */
  const requests = createCounts();
  let looking: Promise<void> | undefined;
  let looksAgain = false;

  async function startAllDue(): Promise<void> {
    do {
      looksAgain = false;
      const now = clock.now();
      for (const webhook of await store.read((db) => webhooksWithDue(db, now))) await startDue(webhook, now);
    } while (looksAgain && !signal.aborted);
  }

  async function startDue(webhook: Webhook, now: number): Promise<void> {
    const half = webhook.failing_since === null ? 'others' : 'failing';
    const each = half === 'failing' ? 1 : webhookRequestsEach;
    const limit = Math.min(each - requests.of(webhook.id), Math.ceil(webhookRequests / 2) - requests.of(half));
    if (limit <= 0 || signal.aborted) return;
    const until = now + REQUEST_TIMEOUT_MS + CLAIM_MARGIN_MS;
    for (const claimed of await claimDeliveries(runtime, { webhookId: webhook.id, limit, now, until })) {
      for (const name of [webhook.id, half]) requests.add(name, 1);
      const request = sendClaimed(webhook, claimed).finally(() => {
        for (const name of [webhook.id, half]) requests.add(name, -1);
        running.delete(request);
        if (looksAgain) begin();
      });
      running.add(request);
    }
  }

  async function sendClaimed(webhook: Webhook, claimed: Claimed): Promise<void> {
    try {
      // A webhook that fails waits for the next round.
      if (await sendDelivery(runtime, { webhook, claimed, clock, signal })) looksAgain = true;
    } catch (error) {
      onFailure(error);
    }
  }

  function begin(): void {
    looksAgain = true;
    if (looking || signal.aborted) return;
    looking = startAllDue()
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

function claimDeliveries(
  { store, ports }: Runtime,
  { until, ...due }: { readonly webhookId: string; readonly limit: number; readonly now: number; readonly until: number },
): Promise<readonly Claimed[]> {
  return store.commit(({ db }) => claimDueDeliveries(db, due, { until, name: () => uuidv7({ random: ports.random.bytes(16) }) }));
}

interface Sending {
  readonly webhook: Webhook;
  readonly claimed: Claimed;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Sends a delivery and stores how the attempt ended. @returns Whether the webhook has accepted the event. */
async function sendDelivery(runtime: Runtime, { webhook, claimed, clock, signal }: Sending): Promise<boolean> {
  const { store } = runtime;
  const body = payloadOf(claimed.event);
  const secrets = await store.read((db) => secretsOf(db, runtime, { id: webhook.id, now: clock.now() }));
  const headers = headersOf(claimed.event.id, body, secrets);
  const attempt = await post({ url: webhook.url, body, headers, loopback: allowsLoopback(runtime), signal });
  // The service stops, which says nothing about the webhook.
  if (signal.aborted && attempt.error !== undefined) return false;
  await store.commit(({ db }) => storeAttempt(db, claimed, { attempt, now: clock.now() }));
  return attempt.error === undefined;
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
