/** The feed of events of a service with the extension, page by page. */
import type { Groups } from './generated/extension/groups.gen.ts';
import type { FeedEvent, ListEventsForm, WebhookPayload } from './generated/extension/types.gen.ts';
import type { RequestOptions } from './runtime/options.ts';

export interface EventPage {
  /** Oldest first. The `type` of an event says which `data` it has. A service may send further types. */
  readonly events: readonly WebhookPayload[];
  /** Continues after this page. Store it when you have handled the events. */
  readonly cursor: string;
}

/**
 * The pages of the feed, from a cursor to the end of the feed. A program that continues with the stored cursor of the last page misses no event and
 * gets none twice.
 *
 * @param form Without `cursor`, the feed begins with the oldest event of the last 30 days.
 * @throws CursorExpiredError if events after the cursor were deleted.
 */
export async function* eventPages(
  { account }: Pick<Groups, 'account'>,
  form: ListEventsForm = {},
  options?: RequestOptions,
): AsyncGenerator<EventPage> {
  let next = form;
  for (let hasMore = true; hasMore;) {
    const page = await account.events(next, options);
    next = { ...form, cursor: page.next_cursor };
    hasMore = page.has_more;
    yield { events: page.events.filter(hasType), cursor: page.next_cursor };
  }
}

/** The data of each type are those of a webhook. */
function hasType(event: FeedEvent): event is WebhookPayload {
  return typeof event.type === 'string';
}
