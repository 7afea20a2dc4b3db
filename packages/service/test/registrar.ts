import { simulatedRegistrar } from '../src/ports/registrar.ts';
import type { Contact, DomainOrder, Registrar } from '../src/ports/registrar.ts';
import { memoryFence } from '../src/ports/fencing.ts';
import type { FencingToken } from '../src/ports/fencing.ts';

/** What the registrar has of a domain. */
export interface RegistrarDomain {
  readonly contact: Contact;
  readonly nameservers: readonly string[];
  readonly authcode: string | null;
  readonly renewed: boolean;
}

/** The simulated registrar, which here remembers what it was asked, and fails when told to. */
export class TestRegistrar implements Registrar {
  readonly #simulated = simulatedRegistrar();
  readonly standardNameservers = this.#simulated.standardNameservers;
  readonly domains = new Map<string, RegistrarDomain>();
  /** Thrown after the work is done: the answer is lost. */
  failing: Error | undefined;
  /** Awaited before the work is done. */
  waiting: Promise<void> | undefined;
  readonly #fence = memoryFence();

  async register(order: DomainOrder, token: FencingToken): Promise<'registered' | 'taken'> {
    const outcome = await this.#simulated.register(order, token);
    if (outcome === 'registered') await this.#have(order, token);
    return outcome;
  }
  async transfer(order: DomainOrder, authcode: string, token: FencingToken): Promise<'transferred' | 'refused'> {
    const outcome = await this.#simulated.transfer(order, authcode, token);
    if (outcome === 'transferred') await this.#have(order, token);
    return outcome;
  }
  async withdraw(name: string, token: FencingToken): Promise<void> {
    await this.#fence.admit(`domain/${name}`, token);
    this.domains.delete(name);
  }
  async setNameservers(name: string, nameservers: readonly string[], token: FencingToken): Promise<void> {
    await this.#change(name, { nameservers }, token);
  }
  async setAuthcode(name: string, authcode: string | null, token: FencingToken): Promise<void> {
    await this.#change(name, { authcode }, token);
  }
  async setRenewal(name: string, renewed: boolean, token: FencingToken): Promise<void> {
    await this.#change(name, { renewed }, token);
  }

  async #have({ name, contact, nameservers }: DomainOrder, token: FencingToken): Promise<void> {
    await this.waiting;
    await this.#fence.admit(`domain/${name}`, token);
    this.domains.set(name, { contact, nameservers, authcode: null, renewed: true });
    this.#fail();
  }
  async #change(name: string, changed: Partial<RegistrarDomain>, token: FencingToken): Promise<void> {
    await this.waiting;
    await this.#fence.admit(`domain/${name}`, token);
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
