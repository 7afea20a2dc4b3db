import type { Webhook as WebhookData } from '@reseller/client/extension';

import { changeWebhook, storeWebhook } from '../../core/events/change-webhook.ts';
import type { WebhookChoice } from '../../core/events/change-webhook.ts';
import type { Webhook } from '../../core/events/deliveries.ts';
import { isEventType } from '../../core/events/event-type.ts';
import { enterEvents, enterInSteps, lockFeed } from '../../core/events/feed.ts';
import { deleteWebhook, findWebhook, rotateSecret, webhooksOf } from '../../core/events/webhook.ts';
import { DEFAULTS } from '../../generated/facts.gen.ts';
import { counted } from '../../rules/counted.ts';
import { toInstant, toInstantOrNull } from '../../rules/instants.ts';
import { invalid } from '../../rules/refusal.ts';
import type { FormOf, ReadOperation, StoreOperation } from '../operation.ts';

const ALL = '*';

/** GET /account/webhooks */
export const listWebhooks: ReadOperation<'listWebhooks'> = {
  kind: 'read',
  settles: false,
  async run(db, { accountId }) {
    const webhooks = await webhooksOf(db, accountId);
    return { message: `${counted(webhooks.length, 'webhook')}.`, data: { list: webhooks.map(toWebhook) } };
  },
};

/** PUT /account/webhooks/add: only this response contains the secret. */
export const addWebhook: StoreOperation<'addWebhook'> = {
  kind: 'store',
  prepare: enterInSteps,
  async run({ db }, { accountId, form, now, runtime }) {
    const { url, description, events, enabled } = { ...DEFAULTS.AddWebhookForm, ...form };
    const entrance = { store: runtime.store, random: runtime.ports.random, now };
    await lockFeed(db, accountId, entrance);
    // It receives what happens from now on.
    await enterEvents(db, accountId, entrance);
    const { webhook, secret } = await storeWebhook(db, runtime, { accountId, entrance, url, description, types: typesOf(events), enabled });
    return {
      message: 'The webhook was added. Store its secret: no other response has it.',
      data: { ...toWebhook(webhook), signing_secret: secret },
    };
  },
};

/** POST /account/webhooks/{webhook_id}/edit */
export const editWebhook: StoreOperation<'editWebhook'> = {
  kind: 'store',
  async run({ db }, { accountId, path, form, now, runtime }) {
    const entrance = { store: runtime.store, random: runtime.ports.random, now };
    await lockFeed(db, accountId, entrance);
    const webhook = await findWebhook(db, accountId, path.webhook_id);
    const edited = await changeWebhook(db, runtime, { webhook, change: changeOf(form), entrance });
    return { message: 'The webhook was changed.', data: toWebhook(edited) };
  },
};

/** DELETE /account/webhooks/{webhook_id}/remove */
export const removeWebhook: StoreOperation<'removeWebhook'> = {
  kind: 'store',
  async run({ db }, { accountId, path }) {
    const { id } = await findWebhook(db, accountId, path.webhook_id);
    await deleteWebhook(db, id);
    return { message: 'The webhook was removed.', data: null };
  },
};

/** POST /account/webhooks/{webhook_id}/rotate: only this response contains the new secret. */
export const rotateWebhookSecret: StoreOperation<'rotateWebhookSecret'> = {
  kind: 'store',
  async run({ db }, { accountId, path, now, runtime }) {
    const { id } = await findWebhook(db, accountId, path.webhook_id);
    const { secret, expires } = await rotateSecret(db, runtime, id, now);
    return {
      message: 'The secret was rotated. The previous one signs until previous_valid_until, too.',
      data: { webhook_id: id, signing_secret: secret, previous_valid_until: toInstant(expires) },
    };
  },
};

function changeOf({ events, ...form }: FormOf<'editWebhook'>): Partial<WebhookChoice> {
  return { ...form, ...(events !== undefined && { types: typesOf(events) }) };
}

/** The types in a field. Undefined for all. */
function typesOf(events: string): readonly string[] | undefined {
  if (events === ALL) return undefined;
  const types = [...new Set(events.split(','))];
  const unknown = types.find((type) => !isEventType(type));
  if (unknown !== undefined)
    throw invalid([{ field: 'events', rule: 'exists', message: `must have only types of events, and ${unknown} is none` }]);
  return types;
}

function toWebhook({ id, url, description, types, enabled, confirming, disabled_reason, failing_since, created }: Webhook): WebhookData {
  return {
    webhook_id: id,
    url,
    description,
    events: types === null ? [ALL] : JSON.parse(types),
    enabled: enabled === 1,
    confirmed: confirming === null,
    disabled_reason,
    failing_since: toInstantOrNull(failing_since),
    created: toInstant(created),
  };
}
