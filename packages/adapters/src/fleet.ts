import type { FencingToken } from './fencing.ts';

/** A server that an account has ordered. */
export interface ServerOrder {
  readonly identifier: string;
  readonly accountId: string;
  /** Short name of the data centre. */
  readonly datacenter: string;
  /** IPv4 addresses and IPv6 networks. */
  readonly addresses: readonly string[];
}

/** Access to the management of a server that is set up. */
export interface ServerAccess {
  /** URL. */
  readonly dashboard: string;
  readonly username: string;
  readonly email: string;
  readonly password: string;
}

/** A set-up that completes without the provider. */
export interface AutomaticSetUp {
  /** Seconds from the order to the completion. */
  readonly after: number;
  /** @param random The service's source of random bytes. */
  accessTo(identifier: string, random: { bytes(count: number): Uint8Array }): ServerAccess;
}

/**
 * The dedicated servers. Every call is idempotent. A call with a stale token is rejected (see fencing.ts). The service gives up on a call
 * after its port timeout. The service does not report cancellations to the fleet, because a cancelled server runs until its end.
 */
export interface Fleet {
  /** Null if the provider completes each set-up through the operator API. */
  readonly automaticSetUp: AutomaticSetUp | null;
  /** Begins the set-up of a server. */
  setUp(order: ServerOrder, token: FencingToken): Promise<void>;
  /** Erases a server that has ended. Does nothing if it was never set up. */
  retire(identifier: string, token: FencingToken): Promise<void>;
}
