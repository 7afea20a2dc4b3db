import type { WebhookPayload } from '@reseller/client/extension';

import { feedCursor, feedPosition } from '../../core/events/cursor.ts';
import { enterEvents, foreignCursor, payloadOf, readFeed } from '../../core/events/feed.ts';
import { DEFAULTS } from '../../generated/facts.gen.ts';
import { counted } from '../../rules/counted.ts';
import type { StoreOperation } from '../operation.ts';

/** POST /account/events: also what happened a moment ago. */
export const listEvents: StoreOperation<'listEvents'> = {
  kind: 'store',
  async run({ db }, { accountId, form, now, runtime: { store, ports } }) {
    await enterEvents(db, accountId, { store, random: ports.random, now });
    const { cursor, limit, type } = { ...DEFAULTS.ListEventsForm, ...form };
    const after = cursor === undefined ? undefined : feedPosition(accountId, cursor);
    if (cursor !== undefined && after === undefined) throw foreignCursor();
    const { events, next, hasMore } = await readFeed(db, { accountId, after, limit, type });
    const payloads = events.map((event): WebhookPayload => JSON.parse(payloadOf(event)));
    return {
      message: `${counted(events.length, 'event')}.`,
      data: { events: payloads, next_cursor: feedCursor(accountId, next), has_more: hasMore },
    };
  },
};
