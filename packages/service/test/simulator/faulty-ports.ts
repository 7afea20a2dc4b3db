/** The world outside the service: it remembers what it was asked, and fails and hangs as the seed says. */
import { memoryFence } from '../../src/index.ts';
import type {
  Contact,
  DomainOrder,
  FencingToken,
  Fleet,
  Hypervisor,
  Ports,
  Registrar,
  ServerOrder,
  Subject,
  VmOrder,
  VmSize,
} from '../../src/index.ts';
import { simulatedAccess } from '../../src/ports/fleet.ts';
import type { Random } from '../../src/rules/random.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** What becomes of one call of a port: it may do its work, or fail or hang before or after it. */
export type Fault = 'none' | 'fails before' | 'fails after' | 'hangs before' | 'hangs after';

/** What a call is for: to do something for a request, to undo it, or to tell the fleet what the store says already. */
export type Purpose = 'do' | 'undo' | 'tell';

/** A port's failure; the service knows nothing of its kind. */
export class PortFailure extends Error {
  override readonly name = 'PortFailure';
}

/** A call that hangs. One that is never let go is one whose process has died. */
export interface HangingCall {
  /** Lets it go on; with `fails`, it fails then. */
  letGo(outcome: 'goes on' | 'fails'): void;
}

/** Decides what becomes of calls. */
export class Faults {
  /** For the next calls, in their order; where none is planned, calls work. */
  plan: Fault[] = [];
  /** Decides where nothing is planned. */
  otherwise: (purpose: Purpose) => Fault = () => 'none';
  /** Told of each call that begins to hang. */
  onHang: (call: HangingCall) => void = () => {};
  readonly #fence = memoryFence();

  /** @param subject The fence rejects stale calls about it. */
  async call<T>(purpose: Purpose, [subject, token]: readonly [Subject, FencingToken], work: () => T): Promise<T> {
    const fault = this.plan.shift() ?? this.otherwise(purpose);
    if (fault === 'fails before') throw new PortFailure('The port failed before it did its work.');
    if (fault === 'hangs before') await this.#hang();
    await this.#fence.admit(subject, token);
    const result = work();
    if (fault === 'hangs after') await this.#hang();
    if (fault === 'fails after') throw new PortFailure('The port failed after it had done its work.');
    return result;
  }

  #hang(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.onHang({
      letGo: (outcome) => (outcome === 'goes on' ? resolve() : reject(new PortFailure('The port failed after it had hung.'))),
    });
    return promise;
  }
}

/** A hypervisor whose VMs are what it was told. */
export class SimulatedHypervisor implements Hypervisor {
  readonly vms = new Map<number, VmOrder>();
  /** Every order that ever came, by VM: also one that failed. */
  readonly orders = new Map<number, VmOrder>();
  lastOrder: VmOrder | undefined;
  readonly stopped = new Set<number>();
  readonly #faults: Faults;
  constructor(faults: Faults) {
    this.#faults = faults;
  }
  create(order: VmOrder, token: FencingToken): Promise<void> {
    this.lastOrder = order;
    this.orders.set(order.vmId, order);
    return this.#faults.call('do', [`vm/${order.vmId}`, token], () => void this.vms.set(order.vmId, order));
  }
  start(vmId: number, token: FencingToken): Promise<void> {
    return this.#faults.call('do', [`vm/${vmId}`, token], () => void this.stopped.delete(vmId));
  }
  stop(vmId: number, token: FencingToken): Promise<void> {
    return this.#faults.call('tell', [`vm/${vmId}`, token], () => void this.stopped.add(vmId));
  }
  resize(size: VmSize, token: FencingToken): Promise<void> {
    return this.#faults.call('do', [`vm/${size.vmId}`, token], () => {
      const order = this.vms.get(size.vmId);
      if (order) this.vms.set(size.vmId, { ...order, ...size });
    });
  }
  reinstall(vmId: number, _os: string, token: FencingToken): Promise<void> {
    return this.#faults.call('do', [`vm/${vmId}`, token], () => {});
  }
  remove(vmId: number, token: FencingToken): Promise<void> {
    return this.#faults.call('undo', [`vm/${vmId}`, token], () => {
      this.vms.delete(vmId);
      this.stopped.delete(vmId);
    });
  }
}

/** A fleet that sets servers up by itself or waits for the provider, as it is told. */
export class SimulatedFleet implements Fleet {
  readonly servers = new Map<string, ServerOrder>();
  automatic = true;
  readonly #faults: Faults;
  constructor(faults: Faults) {
    this.#faults = faults;
  }
  get automaticSetUp(): Fleet['automaticSetUp'] {
    return this.automatic ? { after: SET_UP_SECONDS, accessTo: simulatedAccess } : null;
  }
  setUp(order: ServerOrder, token: FencingToken): Promise<void> {
    return this.#faults.call('tell', [`server/${order.identifier}`, token], () => void this.servers.set(order.identifier, order));
  }
  retire(identifier: string, token: FencingToken): Promise<void> {
    return this.#faults.call('tell', [`server/${identifier}`, token], () => void this.servers.delete(identifier));
  }
}

export const SET_UP_SECONDS = 900;

/** What the registrar has of a domain. */
export interface RegistrarDomain {
  readonly contact: Contact;
  readonly nameservers: readonly string[];
  readonly authcode: string | null;
  readonly renewed: boolean;
}

/** Domains of this prefix are another provider's, and every one can be transferred with this code. */
export const TAKEN = 'taken-';
export const GOOD_AUTHCODE = 'transfer-me-1';

export const standardNameservers = [1, 2, 3, 4, 5].map((number) => `ns${number}.provider.example`);

export class SimulatedRegistrar implements Registrar {
  readonly standardNameservers = standardNameservers;
  readonly domains = new Map<string, RegistrarDomain>();
  readonly #faults: Faults;
  constructor(faults: Faults) {
    this.#faults = faults;
  }
  register(order: DomainOrder, token: FencingToken): Promise<'registered' | 'taken'> {
    return this.#faults.call('do', [`domain/${order.name}`, token], () =>
      order.name.startsWith(TAKEN) ? 'taken' : this.#have(order, 'registered'),
    );
  }
  transfer(order: DomainOrder, authcode: string, token: FencingToken): Promise<'transferred' | 'refused'> {
    return this.#faults.call('do', [`domain/${order.name}`, token], () =>
      authcode === GOOD_AUTHCODE ? this.#have(order, 'transferred') : 'refused',
    );
  }
  withdraw(name: string, token: FencingToken): Promise<void> {
    return this.#faults.call('undo', [`domain/${name}`, token], () => void this.domains.delete(name));
  }
  setNameservers(name: string, nameservers: readonly string[], token: FencingToken): Promise<void> {
    return this.#faults.call('do', [`domain/${name}`, token], () => this.#change(name, { nameservers }));
  }
  setAuthcode(name: string, authcode: string | null, token: FencingToken): Promise<void> {
    return this.#faults.call('do', [`domain/${name}`, token], () => this.#change(name, { authcode }));
  }
  setRenewal(name: string, renewed: boolean, token: FencingToken): Promise<void> {
    return this.#faults.call('do', [`domain/${name}`, token], () => this.#change(name, { renewed }));
  }
  #have<Outcome>({ name, contact, nameservers }: DomainOrder, outcome: Outcome): Outcome {
    this.domains.set(name, { contact, nameservers, authcode: null, renewed: true });
    return outcome;
  }
  #change(name: string, changed: Partial<RegistrarDomain>): void {
    const domain = this.domains.get(name);
    if (!domain) throw new Error(`The registrar has no domain ${name}.`);
    this.domains.set(name, { ...domain, ...changed });
  }
}

/** The ports of a simulation, and the hands that hold them. */
export interface World {
  readonly faults: Faults;
  readonly hypervisor: SimulatedHypervisor;
  readonly fleet: SimulatedFleet;
  readonly registrar: SimulatedRegistrar;
  readonly ports: Ports;
}

export function newWorld(clock: VirtualClock, random: Random): World {
  const faults = new Faults();
  const hypervisor = new SimulatedHypervisor(faults);
  const fleet = new SimulatedFleet(faults);
  const registrar = new SimulatedRegistrar(faults);
  return { faults, hypervisor, fleet, registrar, ports: { clock, random, hypervisor, fleet, registrar } };
}
