import type { Contact, DomainOrder, DsRecord, FencingToken, Registrar } from '../../src/index.ts';
import { simulatedRegistrar } from '../../src/ports/simulated.ts';
import { PortCalls } from './port-calls.ts';
import type { Purpose } from './port-calls.ts';

/** A domain as the registrar has it. */
export interface RegistrarDomain {
  readonly contact: Contact;
  readonly nameservers: readonly string[];
  readonly authcode: string | null;
  readonly renewed: boolean;
  readonly transferLock: boolean;
  readonly dsRecords: readonly DsRecord[];
}

/** Domains of these prefixes belong to another provider, the second ones with DNSSEC. Every domain can be transferred with this code. */
export const TAKEN = 'taken-';
export const SIGNED = 'signed-';
export const GOOD_AUTHCODE = 'example-authcode-1';

export const { standardNameservers } = simulatedRegistrar();

/** A registrar that keeps the domains that it has registered, and fails when a test says so. */
export class TestRegistrar implements Registrar {
  readonly standardNameservers = standardNameservers;
  readonly domains = new Map<string, RegistrarDomain>();
  /** The expiries from which domains were renewed by hand. */
  readonly renewals = new Map<string, Set<string>>();
  /** Thrown once, after the work is done: the response is lost. Undoing it then works. */
  failing: Error | undefined;
  /** Awaited before the work is done. */
  waiting: Promise<void> | undefined;
  /** How many calls have begun to wait. */
  held = 0;
  readonly #calls: PortCalls;
  constructor(calls: PortCalls = new PortCalls()) {
    this.#calls = calls;
  }

  async isAvailable(name: string): Promise<boolean> {
    return !name.startsWith(TAKEN) && !this.domains.has(name);
  }
  register(order: DomainOrder, token: FencingToken): Promise<'registered' | 'taken'> {
    return this.#call('do', order.name, token, () => (order.name.startsWith(TAKEN) ? 'taken' : this.#add(order, 'registered')));
  }
  transfer(order: DomainOrder, authcode: string, token: FencingToken): Promise<'transferred' | 'refused' | 'signed'> {
    return this.#call('do', order.name, token, () => {
      if (authcode !== GOOD_AUTHCODE) return 'refused';
      return order.name.startsWith(SIGNED) ? 'signed' : this.#add(order, 'transferred');
    });
  }
  withdraw(name: string, token: FencingToken): Promise<void> {
    return this.#calls.call('undo', [`domain/${name}`, token], () => void this.domains.delete(name));
  }
  setNameservers(name: string, nameservers: readonly string[], token: FencingToken): Promise<void> {
    return this.#call('do', name, token, () => this.#change(name, { nameservers }));
  }
  setTransferLock(name: string, transferLock: boolean, token: FencingToken): Promise<void> {
    return this.#call('do', name, token, () => this.#change(name, { transferLock }));
  }
  setDsRecords(name: string, dsRecords: readonly DsRecord[], token: FencingToken): Promise<void> {
    return this.#call('do', name, token, () => this.#change(name, { dsRecords }));
  }
  setContact(name: string, contact: Contact, token: FencingToken): Promise<void> {
    return this.#call('do', name, token, () => this.#change(name, { contact }));
  }
  renew(name: string, expires: string, token: FencingToken): Promise<void> {
    return this.#call('do', name, token, () => {
      this.renewals.set(name, new Set([...(this.renewals.get(name) ?? []), expires]));
      this.#change(name, {});
    });
  }
  setAuthcode(name: string, authcode: string | null, token: FencingToken): Promise<void> {
    return this.#call('do', name, token, () => this.#change(name, { authcode }));
  }
  setRenewal(name: string, renewed: boolean, token: FencingToken): Promise<void> {
    return this.#call('do', name, token, () => this.#change(name, { renewed }));
  }

  async #call<T>(purpose: Purpose, name: string, token: FencingToken, work: () => T): Promise<T> {
    if (this.waiting) {
      this.held++;
      await this.waiting;
    }
    return this.#calls.call(purpose, [`domain/${name}`, token], work);
  }
  #add<Outcome>({ name, contact, nameservers }: DomainOrder, outcome: Outcome): Outcome {
    this.domains.set(name, { contact, nameservers, authcode: null, renewed: true, transferLock: false, dsRecords: [] });
    this.#fail();
    return outcome;
  }
  #change(name: string, changed: Partial<RegistrarDomain>): void {
    const domain = this.domains.get(name);
    if (!domain) throw new Error(`The registrar has no domain ${name}.`);
    this.domains.set(name, { ...domain, ...changed });
    this.#fail();
  }
  #fail(): void {
    const { failing } = this;
    this.failing = undefined;
    if (failing) throw failing;
  }
}
