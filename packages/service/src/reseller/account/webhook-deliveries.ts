import type { WebhookDelivery } from '@reseller/client/extension';

import { sendTest } from '../../core/events/change-webhook.ts';
import { beginReplay, deliveriesOf, findDelivery, replayDelivery } from '../../core/events/deliveries.ts';
import type { ListedDelivery, Webhook } from '../../core/events/deliveries.ts';
import { enterEvents, enterInSteps } from '../../core/events/feed.ts';
import { findWebhook } from '../../core/events/webhook.ts';
import { DEFAULTS } from '../../generated/facts.gen.ts';
import { counted } from '../../rules/counted.ts';
import { toInstant, toInstantOrNull } from '../../rules/instants.ts';
import { invalid, notFound, Refusal } from '../../rules/refusal.ts';
import type { Db } from '../../store/store.ts';
import type { ReadOperation, StoreOperation } from '../operation.ts';

const STATES: ReadonlySet<string> = new Set(['pending', 'delivered', 'failed']);

/** POST /account/webhooks/{webhook_id}/deliveries */
export const listWebhookDeliveries: ReadOperation<'listWebhookDeliveries'> = {
  kind: 'read',
  settles: false,
  async run(db, { accountId, path, form }) {
    const { id } = await findWebhook(db, accountId, path.webhook_id);
    const { cursor, limit, status } = { ...DEFAULTS.ListWebhookDeliveriesForm, ...form };
    if (status !== undefined && !STATES.has(status))
      throw invalid([{ field: 'status', rule: 'exists', message: 'must be pending, delivered or failed' }]);
    const before = cursor === undefined ? undefined : Number(cursor);
    const found = await deliveriesOf(db, { webhookId: id, before, limit: limit + 1, state: status }).execute();
    const deliveries = found.slice(0, limit);
    const last = found.length > limit ? deliveries.at(-1) : undefined;
    return {
      message: `${deliveries.length} ${deliveries.length === 1 ? 'delivery' : 'deliveries'}.`,
      data: { deliveries: deliveries.map(toDelivery), next_cursor: last ? String(last.number) : null },
    };
  },
};

/** POST /account/webhooks/{webhook_id}/test */
export const testWebhook: StoreOperation<'testWebhook'> = {
  kind: 'store',
  async run({ db }, { accountId, path, now, runtime: { store, ports } }) {
    const webhook = await enabledWebhook(db, accountId, path.webhook_id);
    return {
      message: 'The test is sent within seconds. POST /account/webhooks/{webhook_id}/deliveries shows its result.',
      data: { delivery_id: await sendTest(db, webhook, { store, random: ports.random, now }) },
    };
  },
};

/** POST /account/webhooks/{webhook_id}/deliveries/{delivery_id}/replay */
export const replayWebhookDelivery: StoreOperation<'replayWebhookDelivery'> = {
  kind: 'store',
  async run({ db }, { accountId, path, now }) {
    const webhook = await enabledWebhook(db, accountId, path.webhook_id);
    const number = Number(path.delivery_id);
    const delivery = Number.isSafeInteger(number) ? await findDelivery(db, webhook.id, number) : undefined;
    if (!delivery) throw notFound('delivery');
    return { message: `The event is sent again${onceConfirmed(webhook)}.`, data: { delivery_id: await replayDelivery(db, delivery, now) } };
  },
};

/** POST /account/webhooks/{webhook_id}/replay */
export const replayWebhook: StoreOperation<'replayWebhook'> = {
  kind: 'store',
  prepare: enterInSteps,
  async run({ db }, { accountId, path, form, now, runtime: { store, ports } }) {
    const since = Date.parse(form.since);
    if (Number.isNaN(since)) throw invalid([{ field: 'since', rule: 'format', message: 'must be an instant that exists' }]);
    const webhook = await enabledWebhook(db, accountId, path.webhook_id);
    await enterEvents(db, accountId, { store, random: ports.random, now });
    const replayed = await beginReplay(db, webhook, since);
    const { last_delivery } = await findWebhook(db, accountId, webhook.id);
    return {
      message: `${counted(replayed, 'event')} ${replayed === 1 ? 'is' : 'are'} sent again${onceConfirmed(webhook)}.`,
      data: { replayed, last_delivery_id: last_delivery === 0 ? null : last_delivery },
    };
  },
};

/** @throws Refusal 409 if the webhook is disabled. */
async function enabledWebhook(db: Db, accountId: string, id: string): Promise<Webhook> {
  const webhook = await findWebhook(db, accountId, id);
  if (webhook.enabled === 1) return webhook;
  throw new Refusal(
    409,
    'wrong_state',
    'The webhook is disabled, so nothing is sent to it. Enable it with POST /account/webhooks/{webhook_id}/edit.',
  );
}

function onceConfirmed({ confirming }: Webhook): string {
  return confirming === null ? '' : ' once the URL has accepted its test';
}

function toDelivery(delivery: ListedDelivery): WebhookDelivery {
  const { number, event_id, type, subject, state, attempts, status, error, duration, created, last_attempt, next_attempt } = delivery;
  return {
    delivery_id: number,
    event_id,
    type,
    subject,
    status: state,
    attempts,
    response_status: status,
    error,
    duration_ms: duration,
    created: toInstant(created),
    last_attempt: toInstantOrNull(last_attempt),
    next_attempt: state === 'pending' ? toInstant(next_attempt) : null,
  };
}
