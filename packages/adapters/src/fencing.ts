/**
 * A fencing token: the number of a port call among all calls about the same VM, domain, server or zone. A later call has a higher token,
 * whichever instance makes it.
 *
 * Calls can arrive late. For example, the service gave up a call after its timeout and undid it, an instance continued after others
 * considered it dead, or a network delayed a request. **Ports must therefore reject a call whose token is lower than the highest token that
 * they have executed for the same subject**, without doing anything. Rejecting a stale call is always safe, because a newer call has
 * already replaced its effect. An adapter whose system cannot compare tokens by itself uses a `Fence`.
 *
 * Tokens are positive integers below 2^53, with gaps. They keep growing after a subject is removed and created again.
 */
export type FencingToken = number;

/** The VM, domain, server or zone that a port call is about. */
export type Subject = `vm/${number}` | `domain/${string}` | `server/${string}` | `zone/${string}`;

/** A port rejects a call because it has already executed a newer one about the same subject. */
export class StaleTokenError extends Error {
  override readonly name = 'StaleTokenError';

  constructor(subject: Subject, token: FencingToken, newest: FencingToken) {
    super(`The call about ${subject} with token ${token} is stale: token ${newest} came before it.`);
  }
}

/** Rejects stale calls on behalf of a port. An adapter calls it immediately before each call that has an effect. */
export interface Fence {
  /** @throws StaleTokenError if the fence has admitted a higher token for this subject. */
  admit(subject: Subject, token: FencingToken): Promise<void>;
}

/** A fence for one process. Several instances need the fence of their store, which the service passes to an adapter. */
export function memoryFence(): Fence {
  const newest = new Map<Subject, FencingToken>();
  return {
    async admit(subject, token) {
      const admitted = newest.get(subject) ?? 0;
      if (token < admitted) throw new StaleTokenError(subject, token, admitted);
      newest.set(subject, token);
    },
  };
}
