import { simulatedRegistrar } from '../src/ports/registrar.ts';
import type { Contact, DomainOrder, Registrar } from '../src/ports/registrar.ts';

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

  async register(order: DomainOrder): Promise<'registered' | 'taken'> {
    const outcome = await simulated.register(order);
    if (outcome === 'registered') await this.#have(order);
    return outcome;
  }
  async transfer(order: DomainOrder, authcode: string): Promise<'transferred' | 'refused'> {
    const outcome = await simulated.transfer(order, authcode);
    if (outcome === 'transferred') await this.#have(order);
    return outcome;
  }
  async withdraw(name: string): Promise<void> {
    this.domains.delete(name);
  }
  async setNameservers(name: string, nameservers: readonly string[]): Promise<void> {
    await this.#change(name, { nameservers });
  }
  async setAuthcode(name: string, authcode: string | null): Promise<void> {
    await this.#change(name, { authcode });
  }
  async setRenewal(name: string, renewed: boolean): Promise<void> {
    await this.#change(name, { renewed });
  }

  async #have({ name, contact, nameservers }: DomainOrder): Promise<void> {
    await this.waiting;
    this.domains.set(name, { contact, nameservers, authcode: null, renewed: true });
    this.#fail();
  }
  async #change(name: string, changed: Partial<RegistrarDomain>): Promise<void> {
    await this.waiting;
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
