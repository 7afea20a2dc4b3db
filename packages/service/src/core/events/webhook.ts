/** The URLs that receive the events of an account. */
import { v7 as uuidv7 } from 'uuid';

import type { Runtime, Services } from '../../delivery/runtime.ts';
import { seal, unseal } from '../../rules/credentials.ts';
import type { Secrets } from '../../rules/credentials.ts';
import { MS_PER_DAY } from '../../rules/day.ts';
import { notFound } from '../../rules/refusal.ts';
import type { Db } from '../../store/store.ts';
import type { Webhook } from './deliveries.ts';

/** How long the previous secret still signs after a rotation. */
export const SECRET_OVERLAP_MS = MS_PER_DAY;
/** Of a secret, as the Standard Webhooks specification suggests. */
const SECRET_BYTES = 24;

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
