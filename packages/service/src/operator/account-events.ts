import type { AccountEvent, AccountWebhook } from '@reseller/operator-client';
import { sql } from 'kysely';
import type { Selectable } from 'kysely';

import type { Event } from '../core/events/feed.ts';
import { toInstant, toInstantOrNull } from '../rules/instants.ts';
import type { WebhooksTable } from '../store/tables/events.ts';
import { accountOf } from './account.ts';
import type { ReadOperation } from './operation.ts';
import { readPage } from './paging.ts';
import type { Order } from './paging.ts';

const newestFirst: Order = { columns: { position: 'integer' }, direction: 'desc' };
const byAge: Order = { columns: { created: 'integer', id: 'text' }, direction: 'asc' };

/** GET /accounts/{account_id}/events */
export const listAccountEvents: ReadOperation<'listAccountEvents'> = {
  kind: 'read',
  async run(db, { path, query }) {
    const { id } = await accountOf(db, path.account_id);
    const events = db.selectFrom('events').selectAll().where('account_id', '=', id);
    const { rows, next_cursor } = await readPage(events, newestFirst, query);
    return { items: rows.map(toEvent), next_cursor };
  },
};

/** GET /accounts/{account_id}/webhooks */
export const listAccountWebhooks: ReadOperation<'listAccountWebhooks'> = {
  kind: 'read',
  async run(db, { path, query }) {
    const { id } = await accountOf(db, path.account_id);
    const webhooks = db
      .selectFrom('webhooks')
      .selectAll()
      .select([deliveriesIn('pending').as('pending'), deliveriesIn('failed').as('failed')])
      .where('account_id', '=', id)
      .where('removed', '=', 0);
    const { rows, next_cursor } = await readPage(webhooks, byAge, query);
    return { items: rows.map(toWebhook), next_cursor };
  },
};

function deliveriesIn(state: 'pending' | 'failed') {
  return sql<number>`(select count(*) from webhook_deliveries where webhook_id = webhooks.id and state = ${state})`;
}

function toEvent({ id, position, type, entered, subject, data }: Event): AccountEvent {
  return { id, position, type, timestamp: toInstant(entered), subject, data: JSON.parse(data) };
}

function toWebhook(webhook: Selectable<WebhooksTable> & { readonly pending: number; readonly failed: number }): AccountWebhook {
  const { id, url, description, types, enabled, confirming, disabled_reason, failing_since, pending, failed, created } = webhook;
  return {
    id,
    url,
    description,
    events: types === null ? ['*'] : JSON.parse(types),
    enabled: enabled === 1,
    confirmed: confirming === null,
    disabled_reason,
    failing_since: toInstantOrNull(failing_since),
    pending,
    failed,
    created: toInstant(created),
  };
}
