import type { DsRecord } from './dns.ts';
import type { FencingToken } from './fencing.ts';
import type { DoneOrStarted, StartedTask, TaskState } from './task.ts';

/** A person, with the data that registries require. */
export interface Contact {
  readonly handle: string;
  readonly gender: string;
  readonly firstname: string;
  readonly lastname: string;
  readonly organisation: string | null;
  readonly street: string;
  readonly number: string;
  readonly zipcode: string;
  readonly city: string;
  readonly region: string;
  readonly countrycode: string;
  readonly email: string;
  readonly phone: string | null;
}

/** A domain to register or transfer. */
export interface DomainOrder {
  /** ASCII form. */
  readonly name: string;
  readonly contact: Contact;
  readonly nameservers: readonly string[];
}

/**
 * The system that registers domains. Every call is idempotent, so that an interrupted delivery can be finished or undone. A call with a
 * stale token is rejected (see fencing.ts), so that changes of a domain take effect in the order of their requests. The service gives up on
 * a call after its port timeout.
 *
 * The registrar renews a domain by itself at each expiry unless `setRenewal` has disabled that. So a renewal does not depend on the
 * service.
 *
 * A registration or transfer for which the registry needs longer than a request should last returns a task. The service then waits as long
 * as it runs, and the domain is PENDING.
 */
export interface Registrar {
  /** The provider's own nameservers, in their order: at least two. */
  readonly standardNameservers: readonly string[];
  /**
   * Whether a domain is available for registration. Needs no token, because it changes nothing. The service asks before each registration: only a
   * free name has a zone while its registration is a task.
   */
  isAvailable(name: string): Promise<boolean>;
  /** Registers a domain for a year. `taken` means that another provider has it, and nothing was done. */
  register(order: DomainOrder, token: FencingToken): Promise<'registered' | 'taken' | StartedTask>;
  /**
   * Takes over a domain from another provider for a year. `refused` means that the auth code is wrong, and `signed` that the registry has DS
   * records of the domain, which do not suit its new nameservers. Nothing was done in both cases.
   */
  transfer(order: DomainOrder, authcode: string, token: FencingToken): Promise<'transferred' | 'refused' | 'signed' | StartedTask>;
  /** Undoes a registration or transfer that was not confirmed. Does nothing if there is none. */
  withdraw(name: string, token: FencingToken): Promise<DoneOrStarted>;
  /** The state of a task that a call has started. Omit it if no call starts one. Needs no token, because it changes nothing. */
  task?(task: string): Promise<TaskState>;
  setNameservers(name: string, nameservers: readonly string[], token: FencingToken): Promise<void>;
  /**
   * Sets or removes the lock with which the registry refuses transfers to another provider. In EPP, it is the status `clientTransferProhibited`.
   * A new domain has no lock.
   */
  setTransferLock(name: string, locked: boolean, token: FencingToken): Promise<void>;
  /**
   * Makes the registry have exactly these DS records of a domain (RFC 5910, 4.1). A new domain has none, and a domain that ends loses them.
   * For a registry that takes keys in their place (RFC 5910, 4.2), such as DENIC, the adapter asks the nameservers of the domain for the keys.
   * Omit it if the registrar knows no DNSSEC.
   */
  setDsRecords?(name: string, records: readonly DsRecord[], token: FencingToken): Promise<void>;
  /** Gives the domain another contact, in all roles. */
  setContact(name: string, contact: Contact, token: FencingToken): Promise<void>;
  /** Sets the auth code with which another provider can take over the domain. Null for none. */
  setAuthcode(name: string, authcode: string | null, token: FencingToken): Promise<void>;
  /**
   * Renews a domain by a year before it expires.
   *
   * @param expires The expiry before this renewal, YYYY-MM-DD in UTC. Does nothing if the domain expires later already, as in EPP, so that a
   *   repeated call renews once.
   */
  renew(name: string, expires: string, token: FencingToken): Promise<void>;
  /** Whether the domain is to be renewed at its expiry. */
  setRenewal(name: string, renewed: boolean, token: FencingToken): Promise<void>;
}
