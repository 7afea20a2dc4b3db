/** The infrastructure of a simulation: a hypervisor, a fleet and a registrar. The seed decides which of their calls fail or hang. */
import type { Ports } from '../../src/index.ts';
import type { Random } from '../../src/rules/random.ts';
import { TestDns } from '../ports/dns.ts';
import { TestFleet } from '../ports/fleet.ts';
import { TestHypervisor } from '../ports/hypervisor.ts';
import { PortCalls } from '../ports/port-calls.ts';
import { TestRegistrar } from '../ports/registrar.ts';
import type { VirtualClock } from './virtual-clock.ts';

export interface World {
  readonly calls: PortCalls;
  readonly hypervisor: TestHypervisor;
  readonly fleet: TestFleet;
  readonly registrar: TestRegistrar;
  /** It never fails, because the engines may publish a zone a different number of times. */
  readonly dns: TestDns;
  readonly ports: Ports;
}

export function newWorld(clock: VirtualClock, random: Random): World {
  const calls = new PortCalls();
  const hypervisor = new TestHypervisor(calls);
  const fleet = new TestFleet(calls);
  const registrar = new TestRegistrar(calls);
  const dns = new TestDns();
  return { calls, hypervisor, fleet, registrar, dns, ports: { clock, random, hypervisor, fleet, registrar, dns } };
}
