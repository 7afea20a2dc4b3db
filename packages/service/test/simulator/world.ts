/** The infrastructure of a simulation: a hypervisor, a fleet and a registrar. The seed decides which of their calls fail or hang. */
import type { VmUsage } from '@reseller/adapters';

import type { DoneOrStarted, FencingToken, Ports, VmOrder } from '../../src/index.ts';
import type { Random } from '../../src/rules/random.ts';
import { TestDns } from '../ports/dns.ts';
import { TestFleet } from '../ports/fleet.ts';
import { TestHypervisor } from '../ports/hypervisor.ts';
import { PortCalls } from '../ports/port-calls.ts';
import { TestRegistrar } from '../ports/registrar.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** A hypervisor that remembers each use of a VM that it has returned. */
export class MeasuredHypervisor extends TestHypervisor {
  /** Times in milliseconds with the use, by VM, the oldest first. */
  readonly reports = new Map<number, { readonly at: number; readonly usage: VmUsage }[]>();
  readonly #clock: VirtualClock;
  constructor(calls: PortCalls, clock: VirtualClock) {
    super(calls);
    this.#clock = clock;
  }
  override create(order: VmOrder, token: FencingToken): Promise<DoneOrStarted> {
    this.reports.delete(order.vmId);
    return super.create(order, token);
  }
  override async usage(vmIds: readonly number[]): Promise<readonly VmUsage[]> {
    const usages = await super.usage(vmIds);
    for (const usage of usages) this.reports.set(usage.vmId, [...(this.reports.get(usage.vmId) ?? []), { at: this.#clock.now(), usage }]);
    return usages;
  }
}

export interface World {
  readonly calls: PortCalls;
  readonly hypervisor: MeasuredHypervisor;
  readonly fleet: TestFleet;
  readonly registrar: TestRegistrar;
  /** It never fails, because the engines may publish a zone a different number of times. */
  readonly dns: TestDns;
  readonly ports: Ports;
}

export function newWorld(clock: VirtualClock, random: Random): World {
  const calls = new PortCalls();
  const hypervisor = new MeasuredHypervisor(calls, clock);
  const fleet = new TestFleet(calls);
  const registrar = new TestRegistrar(calls);
  const dns = new TestDns();
  return { calls, hypervisor, fleet, registrar, dns, ports: { clock, random, hypervisor, fleet, registrar, dns } };
}
