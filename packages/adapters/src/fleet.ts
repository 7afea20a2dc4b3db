import { newPassword } from '../rules/credentials.ts';
import type { Random } from '../rules/random.ts';
import { memoryFence } from './fencing.ts';
import type { Fence, FencingToken } from './fencing.ts';

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
  accessTo(identifier: string, random: Random): ServerAccess;
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

/** A fleet without machines. A set-up completes after a quarter of an hour. */
export function simulatedFleet(fence: Fence = memoryFence()): Fleet {
  return {
    automaticSetUp: { after: 900, accessTo: simulatedAccess },
    setUp: ({ identifier }, token) => fence.admit(`server/${identifier}`, token),
    retire: (identifier, token) => fence.admit(`server/${identifier}`, token),
  };
}

/** Access to a simulated server: a URL that does not resolve, and a new password. */
export function simulatedAccess(identifier: string, random: Random): ServerAccess {
  const username = `server-${identifier.slice(0, 8)}`;
  return {
    dashboard: `https://dedicated.reseller-service.invalid/servers/${identifier}`,
    username,
    email: `${username}@dedicated.reseller-service.invalid`,
    password: newPassword(random),
  };
}
