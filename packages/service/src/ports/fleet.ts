import { newPassword } from '../rules/credentials.ts';
import type { Random } from './random.ts';
import type { Turn } from './turn.ts';

/** What the fleet needs to know of a server that an account has ordered. */
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

/** A set-up that nobody has to complete by hand. */
export interface AutomaticSetUp {
  /** Seconds from the order until it completes. */
  readonly after: number;
  accessTo(identifier: string, random: Random): ServerAccess;
}

/**
 * The machines in the racks. Every call may be repeated with the same server: it leaves the same
 * state. What comes late is refused by its turn (turn.ts), and calls that take longer than the
 * service's time limit for ports are given up. A cancellation is no affair of the fleet's: the server runs on until it ends.
 */
export interface Fleet {
  /** How set-ups complete by themselves; null where the provider says when each one is complete. */
  readonly automaticSetUp: AutomaticSetUp | null;
  /** Begins to set a server up. */
  setUp(order: ServerOrder, turn: Turn): Promise<void>;
  /** Takes a server that has ended out of use and erases it; one that was never set up is as good. */
  retire(identifier: string, turn: Turn): Promise<void>;
}

/** A fleet that has no machines: a set-up completes after a quarter of an hour. */
export function simulatedFleet(): Fleet {
  return {
    automaticSetUp: { after: 900, accessTo: simulatedAccess },
    setUp: async () => {},
    retire: async () => {},
  };
}

/** Access to a server that there is not: to an address that leads nowhere, with a new password. */
export function simulatedAccess(identifier: string, random: Random): ServerAccess {
  const username = `server-${identifier.slice(0, 8)}`;
  return {
    dashboard: `https://dedicated.reseller-service.invalid/servers/${identifier}`,
    username,
    email: `${username}@dedicated.reseller-service.invalid`,
    password: newPassword(random),
  };
}
