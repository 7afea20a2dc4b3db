/** The URLs that receive the events of an account. */
import { v7 as uuidv7 } from 'uuid';

import type { Runtime, Services } from '../../delivery/runtime.ts';
import type { BrokenField } from '../../rules/broken-field.ts';
import { seal, unseal } from '../../rules/credentials.ts';
import type { Secrets } from '../../rules/credentials.ts';
import { MS_PER_DAY } from '../../rules/day.ts';
import { invalid, notFound, Refusal } from '../../rules/refusal.ts';
import { lockAccount } from '../../store/account-lock.ts';
import type { Db } from '../../store/store.ts';
import type { Webhook } from './deliveries.ts';
import { brokenRuleOfUrl } from './webhook-url.ts';

/** Webhooks of an account (extension: PUT /account/webhooks/add). */
export const MAX_WEBHOOKS = 10;
/** How long the previous secret still signs after a rotation. */
export const SECRET_OVERLAP_MS = MS_PER_DAY;
/** Of a secret, as the Standard Webhooks specification suggests. */
const SECRET_BYTES = 24;

/** The choices of an account about a webhook. */
export interface WebhookChoice {
  readonly url: string;
  readonly description: string;
  /** Undefined for all. */
  readonly types: readonly string[] | undefined;
  readonly enabled: boolean;
}

/** The webhooks of an account, in the order in which they were added. */
export function webhooksOf(db: Db, accountId: string): Promise<Webhook[]> {
  return db
    .selectFrom('webhooks')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('removed', '=', 0)
    .orderBy('created')
    .orderBy('id')
    .execute();
}

/** @throws Refusal 404 if the account does not have the webhook. */
export async function findWebhook(db: Db, accountId: string, id: string): Promise<Webhook> {
  const webhook = await db
    .selectFrom('webhooks')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .where('removed', '=', 0)
    .executeTakeFirst();
  if (!webhook) throw notFound('webhook');
  return webhook;
}

/** @throws Refusal 409 if the account has as many as possible, 422 if nothing may be sent to the URL. */
export async function storeWebhook(
  db: Db,
  runtime: Runtime,
  { accountId, now, ...choice }: WebhookChoice & { readonly accountId: string; readonly now: number },
): Promise<{ readonly webhook: Webhook; readonly secret: string }> {
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
  };
  await db.insertInto('webhooks').values(webhook).execute();
  return { webhook, secret: await addSecret(db, runtime, webhook.id, now) };
}

/** Changes a webhook. Enabled again, it gets the deliveries that have waited, once all of them are due. */
export async function changeWebhook(
  db: Db,
  runtime: Runtime,
  { webhook, change }: { readonly webhook: Webhook; readonly change: Partial<WebhookChoice> },
): Promise<Webhook> {
  if (change.url !== undefined) assertUrl(runtime, change.url);
  if (Object.keys(change).length === 0) return webhook;
  const isResumed = change.enabled === true && webhook.enabled === 0;
  const edited = await db
    .updateTable('webhooks')
    .set({ ...choiceColumnsOf(change), ...(isResumed && { disabled_reason: null, failing_since: null, resume_after: '', has_steps: 1 }) })
    .where('id', '=', webhook.id)
    .where('removed', '=', 0)
    .returningAll()
    .executeTakeFirst();
  if (!edited) throw notFound('webhook');
  return edited;
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

/** Removes a webhook. From now on, nothing shows it or is sent to it. Its deliveries are deleted in steps. */
export async function deleteWebhook(db: Db, id: string): Promise<void> {
  await db.deleteFrom('webhook_secrets').where('webhook_id', '=', id).execute();
  await db.updateTable('webhooks').set({ removed: 1, has_steps: 1, enabled: 0, url: '', description: '' }).where('id', '=', id).execute();
}

/** Replaces the secret of a webhook. The previous one still signs for a day, and an older one no longer does. */
export async function rotateSecret(
  db: Db,
  runtime: Runtime,
  id: string,
  now: number,
): Promise<{ readonly secret: string; readonly expires: number }> {
  const expires = now + SECRET_OVERLAP_MS;
  await db.deleteFrom('webhook_secrets').where('webhook_id', '=', id).where('expires', 'is not', null).execute();
  await db.updateTable('webhook_secrets').set({ expires }).where('webhook_id', '=', id).execute();
  return { secret: await addSecret(db, runtime, id, now), expires };
}

/** @returns The new secret, which no other response contains. */
export async function addSecret(db: Db, { secret: key, ports: { random } }: Services, webhookId: string, now: number): Promise<string> {
  const secret = `whsec_${Buffer.from(random.bytes(SECRET_BYTES)).toString('base64')}`;
  const id = uuidv7({ msecs: now, random: random.bytes(16) });
  await db
    .insertInto('webhook_secrets')
    .values({ id, webhook_id: webhookId, sealed_secret: seal(secret, key, secretContext(id), random), expires: null })
    .execute();
  return secret;
}

/** The secrets that sign at an instant, the newest first. */
export async function secretsOf(db: Db, secrets: Secrets, { id, now }: { readonly id: string; readonly now: number }): Promise<string[]> {
  const rows = await db.selectFrom('webhook_secrets').selectAll().where('webhook_id', '=', id).orderBy('id', 'desc').execute();
  return rows
    .filter(({ expires }) => expires === null || expires > now)
    .map(({ id: secretId, sealed_secret }) => {
      const secret = unseal(sealed_secret, secrets, secretContext(secretId));
      if (secret === undefined) throw new Error(`The secret of the webhook ${id} is sealed with another secret of the service.`);
      return secret;
    });
}

/** The context that a secret is sealed with. */
export function secretContext(id: string): string {
  return `webhook/${id}`;
}
