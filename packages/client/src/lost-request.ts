import type { Moment } from './runtime/clock.ts';
import type { Prepared } from './runtime/prepare.ts';

/** A request that must not take effect twice and whose response was lost. It knows when it was first sent. */
export interface LostRequest extends Moment {
  readonly prepared: Prepared;
  /** When its last attempt ended, by the client's clock. */
  readonly endedAt: number;
  readonly attempts: number;
  /** Whether another process made it. Secrets of its form are unknown. */
  readonly isStored?: true;
  /** The hash of the API key with which it was sent. */
  readonly account?: string | undefined;
  /** An earlier request of its account. */
  readonly witness?: Witness | undefined;
  /** Whether it was sent with another API key, which may be that of another account. */
  readonly isOfOtherKey?: boolean;
}

/** A request that the service logged for an account. Its log entry proves that another key is one of the same account. */
export interface Witness {
  readonly requestID: string;
  /** When its response arrived, by the client's clock. */
  readonly at: number;
}
