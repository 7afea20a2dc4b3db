/** A webhook is added, changed and tested. Its URL accepts a test before anything else is sent to it. */
import { v7 as uuidv7 } from 'uuid';

import type { Runtime } from '../../delivery/runtime.ts';
import type { BrokenField } from '../../rules/broken-field.ts';
import { invalid, notFound, Refusal } from '../../rules/refusal.ts';
import { lockAccount } from '../../store/account-lock.ts';
import type { Db } from '../../store/store.ts';
import { assertMayWait, findDelivery, replayDelivery } from './deliveries.ts';
import type { Webhook } from './deliveries.ts';
import { enterTest } from './feed.ts';
import type { Entrance } from './feed.ts';
import { brokenRuleOfUrl } from './webhook-url.ts';
import { addSecret, webhooksOf } from './webhook.ts';

/** Webhooks of an account (extension: PUT /account/webhooks/add). */
export const MAX_WEBHOOKS = 10;

/** The choices of an account about a webhook. */
export interface WebhookChoice {
  readonly url: string;
  readonly description: string;
  /** Undefined for all. */
  readonly types: readonly string[] | undefined;
  readonly enabled: boolean;
}

/** Of `confirming`: no test was added yet. */
const NO_TEST = 0;

/** Adds a webhook. The feed is locked. @throws Refusal 409 if the account has as many as possible, 422 if nothing may be sent to the URL. */
export async function storeWebhook(
  db: Db,
  runtime: Runtime,
  { accountId, entrance, ...choice }: WebhookChoice & { readonly accountId: string; readonly entrance: Entrance },
): Promise<{ readonly webhook: Webhook; readonly secret: string }> {
  const { now } = entrance;
  assertUrl(runtime, choice.url);
  await lockAccount(db, accountId);
  if ((await webhooksOf(db, accountId)).length >= MAX_WEBHOOKS)
    throw new Refusal(
      409,
      'quota_exceeded',
      `This account has ${MAX_WEBHOOKS} webhooks, and more are not possible. Remove one that is no longer used.`,
    );
  const webhook: Webhook = {
    id: uuidv7({ msecs: now, random: runtime.ports.random.bytes(16) }),
    account_id: accountId,
    ...choiceColumnsOf(choice),
    disabled_reason: null,
    failing_since: null,
    last_delivery: 0,
    created: now,
    removed: 0,
    has_steps: 0,
    replay_after: null,
    replay_until: null,
    replay_number: null,
    resume_after: null,
    confirming: NO_TEST,
  };
  await db.insertInto('webhooks').values(webhook).execute();
  if (choice.enabled) await askUrl(db, webhook, entrance);
  return { webhook, secret: await addSecret(db, runtime, webhook.id, now) };
}

/**
 * Changes a webhook. The feed is locked. Enabled again, or with another URL, it gets the deliveries that have waited, once all of them are due and
 * the URL is confirmed.
 */
export async function changeWebhook(
  db: Db,
  runtime: Runtime,
  { webhook, change, entrance }: { readonly webhook: Webhook; readonly change: Partial<WebhookChoice>; readonly entrance: Entrance },
): Promise<Webhook> {
  if (change.url !== undefined) assertUrl(runtime, change.url);
  if (Object.keys(change).length === 0) return webhook;
  const columns = choiceColumnsOf(change);
  const isEnabled = change.enabled ?? webhook.enabled === 1;
  const isMoved = columns.url !== undefined && columns.url !== webhook.url;
  const isResumed = isEnabled && (isMoved || webhook.enabled === 0);
  if (isMoved) await forgetTest(db, webhook);
  const edited = await db
    .updateTable('webhooks')
    .set({
      ...columns,
      ...(isMoved && { confirming: NO_TEST }),
      ...(isResumed && { disabled_reason: null, failing_since: null, resume_after: '', has_steps: 1 }),
    })
    .where('id', '=', webhook.id)
    .where('removed', '=', 0)
    .returningAll()
    .executeTakeFirst();
  if (!edited) throw notFound('webhook');
  if (isResumed && edited.confirming !== null) await askUrl(db, edited, entrance);
  return edited;
}

/** Removes the test of a former URL, so that a late response to it confirms no other URL. */
async function forgetTest(db: Db, { id, confirming }: Webhook): Promise<void> {
  if (confirming === null) return;
  await db.deleteFrom('webhook_deliveries').where('webhook_id', '=', id).where('number', '=', confirming).execute();
}

/** Sends a test to a webhook, and the one that its URL must accept first if that waits. @returns The number of its delivery. */
export async function sendTest(db: Db, webhook: Webhook, entrance: Entrance): Promise<number> {
  if (webhook.confirming !== null) return askUrl(db, webhook, entrance);
  await assertMayWait(db, webhook.account_id, 1);
  return enterTest(db, webhook, entrance);
}

/** Sends the test that the URL of a webhook must accept first. @returns The number of its delivery. */
async function askUrl(db: Db, webhook: Webhook, entrance: Entrance): Promise<number> {
  const { id, confirming } = webhook;
  const test = confirming === null ? undefined : await findDelivery(db, id, confirming);
  const number = test?.state === 'pending' ? await replayDelivery(db, test, entrance.now) : await enterTest(db, webhook, entrance);
  await db.updateTable('webhooks').set({ confirming: number }).where('id', '=', id).execute();
  return number;
}

function choiceColumnsOf(choice: WebhookChoice): Pick<Webhook, 'url' | 'description' | 'types' | 'enabled'>;
function choiceColumnsOf(
  choice: Partial<WebhookChoice>,
): Partial<Pick<Webhook, 'url' | 'description' | 'types' | 'enabled'>> & { url?: string };
function choiceColumnsOf({ url, description, enabled, ...choice }: Partial<WebhookChoice>) {
  return {
    ...(url !== undefined && { url: new URL(url).href }),
    ...(description !== undefined && { description }),
    ...('types' in choice && { types: choice.types === undefined ? null : JSON.stringify(choice.types) }),
    ...(enabled !== undefined && { enabled: enabled ? 1 : 0 }),
  };
}

function assertUrl(runtime: Runtime, url: string): void {
  const message = brokenRuleOfUrl(runtime, url);
  if (message === undefined) return;
  const broken: BrokenField = { field: 'url', rule: 'format', message };
  throw invalid([broken]);
}
