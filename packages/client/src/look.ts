/** Reading the newest part of the request log, for all lost requests at once. */
import type { RequestLogItem } from './generated/types.gen.ts';
import type { LostRequest, Memory } from './memory.ts';
import { pagesOf } from './paged-call.ts';
import type { Clock } from './runtime/options.ts';

/** The request log at one moment, as far back as any open request may be. */
export interface Look {
  /** By the client's clock. */
  readonly startedAt: number;
  /** Newest first. */
  readonly entries: readonly RequestLogItem[];
  /** Milliseconds that the clock of the log is ahead of that of the client. Undefined if the entries include none of this client. */
  readonly clockOffset: number | undefined;
}

export interface LookParts {
  readonly clock: Clock;
  readonly memory: Memory;
  /** Reads the entries after the `offset` newest. */
  readonly readPage: (offset: number) => Promise<RequestLogItem[]>;
}

/** Covers the time that a response takes, and logs that keep whole seconds. */
export const CLOCK_SLACK_MS = 2_000;
/** Maximum age in milliseconds of a look that callers share. */
const MAX_LOOK_AGE_MS = 250;

/** Returns a function that looks at the log. Calls at the same time share one look. */
export function looksOf(parts: LookParts): (since: number) => Promise<Look> {
  const { clock } = parts;
  let latest: { readonly startedAt: number; readonly look: Promise<Look> } | undefined;
  return (since) => {
    const now = clock.now();
    if (!latest || latest.startedAt < since || now - latest.startedAt > MAX_LOOK_AGE_MS) {
      const look = readLook(parts, now);
      latest = { startedAt: now, look };
      // A failed look is not shared.
      look.catch(() => {
        if (latest?.look === look) latest = undefined;
      });
    }
    return latest.look;
  };
}

async function readLook({ readPage, memory }: LookParts, startedAt: number): Promise<Look> {
  const entries: RequestLogItem[] = [];
  for await (const page of pagesOf(readPage)) {
    entries.push(...page);
    if (reachesBack(entries, memory)) break;
  }
  return { startedAt, entries, clockOffset: clockOffsetOf(entries, memory) };
}

/** Whether the entries reach back beyond every open request. Without a known clock, one page must be enough. */
function reachesBack(entries: readonly RequestLogItem[], memory: Memory): boolean {
  const clockOffset = clockOffsetOf(entries, memory);
  const oldest = entries.at(-1);
  if (clockOffset === undefined || !oldest) return true;
  return [...memory.open].every(
    (request) => isBefore(oldest, request, clockOffset) || entries.some((entry) => entry.requestID === request.after),
  );
}

/** Whether an entry is certainly older than a request. */
export function isBefore({ requestDate }: RequestLogItem, { sentAt }: LostRequest, clockOffset: number): boolean {
  return Date.parse(requestDate) < sentAt + clockOffset - CLOCK_SLACK_MS;
}

/** Entries whose responses this client received show the difference between its clock and that of the log. */
function clockOffsetOf(entries: readonly RequestLogItem[], { respondedAt }: Memory): number | undefined {
  for (const { requestID, requestDate } of entries) {
    const ownTime = respondedAt.get(requestID);
    if (ownTime !== undefined) return Date.parse(requestDate) - ownTime;
  }
  return undefined;
}
