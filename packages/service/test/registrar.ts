import { simulatedRegistrar } from '../src/ports/registrar.ts';
import type { Contact, DomainOrder, Registrar } from '../src/ports/registrar.ts';
import type { Turn } from '../src/ports/turn.ts';
import { LateCalls } from './late-calls.ts';

/** What the registrar has of a domain. */
export interface RegistrarDomain {
  readonly contact: Contact;
  readonly nameservers: readonly string[];
  readonly authcode: string | null;
  readonly renewed: boolean;
}

const simulated = simulatedRegistrar();

/** The simulated registrar, which here remembers what it was asked, and fails when told to. */
export class TestRegistrar implements Registrar {
  readonly standardNameservers = simulated.standardNameservers;
  readonly domains = new Map<string, RegistrarDomain>();
  /** Thrown after the work is done: the answer is lost. */
  failing: Error | undefined;
  /** Awaited before the work is done. */
  waiting: Promise<void> | undefined;
  readonly #lateCalls = new LateCalls();

  async register(order: DomainOrder, turn: Turn): Promise<'registered' | 'taken'> {
    const outcome = await simulated.register(order, turn);
    if (outcome === 'registered') await this.#have(order, turn);
    return outcome;
  }
  async transfer(order: DomainOrder, authcode: string, turn: Turn): Promise<'transferred' | 'refused'> {
    const outcome = await simulated.transfer(order, authcode, turn);
    if (outcome === 'transferred') await this.#have(order, turn);
    return outcome;
  }
  async withdraw(name: string, turn: Turn): Promise<void> {
    this.#lateCalls.refuse(name, turn);
    this.domains.delete(name);
  }
  async setNameservers(name: string, nameservers: readonly string[], turn: Turn): Promise<void> {
    await this.#change(name, { nameservers }, turn);
  }
  async setAuthcode(name: string, authcode: string | null, turn: Turn): Promise<void> {
    await this.#change(name, { authcode }, turn);
  }
  async setRenewal(name: string, renewed: boolean, turn: Turn): Promise<void> {
    await this.#change(name, { renewed }, turn);
  }

  async #have({ name, contact, nameservers }: DomainOrder, turn: Turn): Promise<void> {
    await this.waiting;
    this.#lateCalls.refuse(name, turn);
    this.domains.set(name, { contact, nameservers, authcode: null, renewed: true });
    this.#fail();
  }
  async #change(name: string, changed: Partial<RegistrarDomain>, turn: Turn): Promise<void> {
    await this.waiting;
    this.#lateCalls.refuse(name, turn);
    const domain = this.domains.get(name);
    if (!domain) throw new Error(`The registrar has no domain ${name}.`);
    this.domains.set(name, { ...domain, ...changed });
    this.#fail();
  }
  /** Once: what is undone afterwards is to work. */
  #fail(): void {
    const { failing } = this;
    this.failing = undefined;
    if (failing) throw failing;
  }
}
