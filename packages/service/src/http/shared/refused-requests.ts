import { errorCodec } from '../../reseller/codec.ts';
import type { LoggedRequest, Reply } from '../../reseller/codec.ts';
import { logReply } from '../../reseller/perform.ts';
import { counted } from '../../rules/counted.ts';
import type { Store } from '../../store/store.ts';

/** The time in which further requests of a key share one entry. */
const GROUP_MS = 1_000;

interface RefusedGroup {
  count: number;
  last: LoggedRequest;
  readonly timer: NodeJS.Timeout;
}

/** The log entries of requests beyond the rate limit. */
export interface RefusedRequests {
  /** Logs the first refused request of a key, and then one entry a second for all others. */
  log(keyId: string, logged: LoggedRequest, reply: Reply): Promise<void>;
  /** Logs the requests that no entry has yet, and waits for entries that are being written. */
  flush(): Promise<void>;
}

/**
 * A key that sends too many requests would otherwise fill the log and the disk with refusals, each with a commit of its own.
 *
 * @param onFailure Called when an entry could not be written.
 */
export function createRefusedRequests(store: Store, onFailure: (error: unknown) => void): RefusedRequests {
  const groups = new Map<string, RefusedGroup>();
  const writing = new Set<Promise<void>>();
  function closeGroup(keyId: string): void {
    const written = writeGroup(keyId).finally(() => writing.delete(written));
    writing.add(written);
  }
  async function writeGroup(keyId: string): Promise<void> {
    const group = groups.get(keyId);
    groups.delete(keyId);
    if (!group) return;
    clearTimeout(group.timer);
    if (group.count === 0) return;
    const message = `${counted(group.count, 'further request')} of this API key exceeded its rate limit within a second and ${group.count === 1 ? 'was' : 'were'} refused. This is the last of them.`;
    await logReply(store, group.last, errorCodec.error(group.last.id, { status: 429, type: 'rate_limited', message, fields: null })).catch(
      onFailure,
    );
  }
  return {
    async log(keyId, logged, reply) {
      const group = groups.get(keyId);
      if (group) {
        group.count++;
        group.last = logged;
        return;
      }
      groups.set(keyId, { count: 0, last: logged, timer: setTimeout(() => closeGroup(keyId), GROUP_MS).unref() });
      await logReply(store, logged, reply);
    },
    async flush() {
      for (const keyId of groups.keys()) closeGroup(keyId);
      await Promise.all(writing);
    },
  };
}
