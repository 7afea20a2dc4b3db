/** Sends due deliveries. */
import { Webhook as Signer } from 'standardwebhooks';
import { v7 as uuidv7 } from 'uuid';

import { backgroundWork } from '../../delivery/background-work.ts';
import type { BackgroundWork } from '../../delivery/background-work.ts';
import type { Runtime } from '../../delivery/runtime.ts';
import { systemClock } from '../../ports/system.ts';
import type { Clock } from '../../ports/system.ts';
import { accountsWithDue, claimDueDeliveries, dueWebhooks, storeAttempt, webhooksWithDue } from './deliveries.ts';
import type { Attempt, Claimed, DueOptions, Webhook } from './deliveries.ts';
import { payloadOf } from './feed.ts';
import { post, REQUEST_TIMEOUT_MS } from './post.ts';
import { allowsLoopback } from './webhook-url.ts';
import { secretsOf } from './webhook.ts';

/**
 * A claim outlasts the request by this time for the store. The claim of an instance that died ends then, and another instance sends the delivery. A
 * store that takes longer has it sent twice, which receivers expect.
 */
const CLAIM_MARGIN_MS = 5_000;

export interface WebhookSender {
  readonly due: BackgroundWork['due'];
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

const RATE_WINDOW_MS = 1_000;

/** Counts the requests to each host in windows of a second. */
function createHostRate(limit: number) {
  let start = -Infinity;
  let hosts = createCounts();
  function inWindow(now: number) {
    // The clock of a sandbox is set back by a restore.
    if (now < start || now >= start + RATE_WINDOW_MS) [start, hosts] = [now, createCounts()];
    return hosts;
  }
  return {
    hasRoom: (url: string, now: number): boolean => inWindow(now).of(new URL(url).hostname) < limit,
    count: (url: string, now: number): void => inWindow(now).add(new URL(url).hostname, 1),
  };
}

/**
 * Accounts get requests in turns, so that the receivers of some do not delay those of others. A webhook that is slow, or whose last attempt
 * failed, gets one request at a time, and such webhooks share half of all requests. Beyond its rate, a host waits for the next round.
 *
 * @param onFailure Called if the store fails.
 */
export function createWebhookSender(runtime: Runtime, clock: Clock, onFailure: (error: unknown) => void): WebhookSender {
  const { store } = runtime;
  const { webhookRequests, webhookRequestsOfAccount, webhookRequestsEach, webhookRequestsOfHost, slowWebhookMs } = store.tuning;
  const closing = new AbortController();
  const { signal } = closing;
  /** Requests of each webhook, and those of all slow or failing ones. */
  const requests = createCounts();
  const slow = new Set<string>();
  const hostRate = createHostRate(webhookRequestsOfHost);

  function hasPlace({ id, failing_since }: Webhook): boolean {
    if (failing_since === null && !slow.has(id)) return requests.of(id) < webhookRequestsEach;
    return requests.of(id) === 0 && requests.of(LIMITED) < Math.ceil(webhookRequests / 2);
  }

  async function takeDelivery(accountId: string): Promise<Sending | undefined> {
    const now = clock.now();
    const webhooks = await store.read((db) => webhooksWithDue(db, accountId, now));
    for (const webhook of webhooks.toSorted((one, other) => requests.of(one.id) - requests.of(other.id))) {
      if (!hasPlace(webhook) || !hostRate.hasRoom(webhook.url, now)) continue;
      const until = now + REQUEST_TIMEOUT_MS + CLAIM_MARGIN_MS;
      const due = { webhookId: webhook.id, confirming: webhook.confirming, now };
      const [claimed] = await claimDeliveries(runtime, { ...due, limit: 1, until });
      if (!claimed) continue;
      hostRate.count(webhook.url, now);
      return { webhook, claimed, names: countsOf(webhook) };
    }
    return undefined;
  }

  function countsOf({ id, failing_since }: Webhook): readonly string[] {
    return failing_since === null && !slow.has(id) ? [id] : [id, LIMITED];
  }

  async function sendTaken({ webhook, claimed, names }: Sending): Promise<'later' | void> {
    for (const name of names) requests.add(name, 1);
    try {
      const attempt = await sendDelivery(runtime, { webhook, claimed, clock, signal });
      if ((attempt?.duration ?? 0) >= slowWebhookMs) slow.add(webhook.id);
      else slow.delete(webhook.id);
      // A webhook that fails waits for the next round.
      if (attempt === undefined || attempt.error !== undefined) return 'later';
    } finally {
      for (const name of names) requests.add(name, -1);
    }
  }

  const work = backgroundWork<Sending>({
    places: webhookRequests,
    placesEach: webhookRequestsOfAccount,
    due: (db) => dueWebhooks(db, clock.now()).select('id'),
    accounts: () => store.read((db) => accountsWithDue(db, clock.now())),
    take: takeDelivery,
    perform: sendTaken,
    onFailure,
  });
  return {
    due: work.due,
    begin: work.begin,
    async close() {
      closing.abort();
      await work.close();
    },
  };
}

/** The name under which requests of slow and failing webhooks are counted. */
const LIMITED = 'slow or failing';

function claimDeliveries(
  { store, ports }: Runtime,
  { until, ...due }: DueOptions & { readonly limit: number; readonly until: number },
): Promise<readonly Claimed[]> {
  return store.commit(({ db }) => claimDueDeliveries(db, due, { until, name: () => uuidv7({ random: ports.random.bytes(16) }) }));
}

/** A delivery that is being sent. */
interface Sending {
  readonly webhook: Webhook;
  readonly claimed: Claimed;
  /** What its request is counted under. */
  readonly names: readonly string[];
}

interface SendOptions extends Omit<Sending, 'names'> {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Sends a delivery and stores how the attempt ended. @returns Undefined if the service stops. */
async function sendDelivery(runtime: Runtime, { webhook, claimed, clock, signal }: SendOptions): Promise<Attempt | undefined> {
  const { store } = runtime;
  const body = payloadOf(claimed.event);
  const secrets = await store.read((db) => secretsOf(db, runtime, { id: webhook.id, now: clock.now() }));
  const headers = headersOf(claimed.event.id, body, secrets);
  const attempt = await post({ url: webhook.url, body, headers, loopback: allowsLoopback(runtime), signal });
  // The service stops, which says nothing about the webhook.
  if (signal.aborted && attempt.error !== undefined) return undefined;
  await store.commit(({ db }) => storeAttempt(db, claimed, { attempt, now: clock.now() }));
  return attempt;
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
