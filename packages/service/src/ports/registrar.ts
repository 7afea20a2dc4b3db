import type { Turn } from './turn.ts';

/** A person, as a registry wants to know them. */
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

/** What the registrar needs to know of a domain. */
export interface DomainOrder {
  /** ASCII form. */
  readonly name: string;
  readonly contact: Contact;
  readonly nameservers: readonly string[];
}

/**
 * Where domains are registered. Every call may be repeated with the same domain: it leaves the
 * same state, so that what a crash cut in half can be finished or undone. What comes late is refused
 * by its turn (turn.ts), so that changes of a domain hold in the order in which they were asked for.
 * Calls that take longer than the service's time limit for ports are given up.
 *
 * The registrar renews a domain by itself at each expiry, for as long as `setRenewal` does not say
 * otherwise, and lets go of it at the expiry where it does: so a renewal waits for nobody.
 */
export interface Registrar {
  /** The provider's own nameservers, in their order: at least two. */
  readonly standardNameservers: readonly string[];
  /** Registers a domain for a year. `taken`: another provider has it, and nothing was done. */
  register(order: DomainOrder, turn: Turn): Promise<'registered' | 'taken'>;
  /** Takes a domain over from another provider for a year. `refused`: the authcode is not the one of the domain, and nothing was done. */
  transfer(order: DomainOrder, authcode: string, turn: Turn): Promise<'transferred' | 'refused'>;
  /** Takes back a registration or transfer that was not confirmed; one that was never made is as good. */
  withdraw(name: string, turn: Turn): Promise<void>;
  setNameservers(name: string, nameservers: readonly string[], turn: Turn): Promise<void>;
  /** Sets the code that another provider can transfer the domain away with; null for none. */
  setAuthcode(name: string, authcode: string | null, turn: Turn): Promise<void>;
  /** Whether the domain is to be renewed at its expiry. */
  setRenewal(name: string, renewed: boolean, turn: Turn): Promise<void>;
}

/** The simulated authcode of every domain at another provider. The document tells it to users of the sandbox. */
const ANY_AUTHCODE = 'example-authcode-1';

/**
 * A registrar that has no registry: what it did is kept in the service's own store alone. Domains
 * that begin with `taken-` are registered at another provider, and every domain can be transferred
 * with the same authcode.
 */
export function simulatedRegistrar(): Registrar {
  return {
    standardNameservers: [1, 2, 3, 4, 5].map((number) => `ns${number}.provider.example`),
    register: async ({ name }) => (name.startsWith('taken-') ? 'taken' : 'registered'),
    transfer: async (_order, authcode) => (authcode === ANY_AUTHCODE ? 'transferred' : 'refused'),
    withdraw: async () => {},
    setNameservers: async () => {},
    setAuthcode: async () => {},
    setRenewal: async () => {},
  };
}
