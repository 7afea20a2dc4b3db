import type { FeedEvent } from '@reseller/client/extension';

import { isEventType } from '../../core/events/event-type.ts';
import { enterEvents, enterInSteps, readFeed } from '../../core/events/feed.ts';
import type { Event } from '../../core/events/feed.ts';
import { DEFAULTS } from '../../generated/facts.gen.ts';
import { counted } from '../../rules/counted.ts';
import { toInstant } from '../../rules/instants.ts';
import { invalid } from '../../rules/refusal.ts';
import type { StoreOperation } from '../operation.ts';

/** POST /account/events: also what happened a moment ago. */
export const listEvents: StoreOperation<'listEvents'> = {
  kind: 'store',
  prepare: enterInSteps,
  async run({ db }, { accountId, form, now, runtime: { store, ports } }) {
    if (form?.type !== undefined && !isEventType(form.type))
      throw invalid([{ field: 'type', rule: 'exists', message: 'must be the type of an event, such as invoice.issued' }]);
    await enterEvents(db, accountId, { store, random: ports.random, now });
    const { cursor, limit, type } = { ...DEFAULTS.ListEventsForm, ...form };
    const after = cursor === undefined ? undefined : Number(cursor);
    const { events, next, hasMore } = await readFeed(db, { accountId, after, limit, type });
    return {
      message: `${counted(events.length, 'event')}.`,
      data: { events: events.map(toEvent), next_cursor: String(next), has_more: hasMore },
    };
  },
};

function toEvent({ id, type, entered, subject, data }: Event): FeedEvent {
  return { id, type, timestamp: toInstant(entered), subject, data: JSON.parse(data) };
}
