import type { Dns, Fleet, Hypervisor, Registrar } from '@reseller/adapters';

import type { Random } from '../rules/random.ts';
import type { Clock } from './system.ts';

/** A port to infrastructure, which can be simulated. */
export type SimulatedPort = 'hypervisor' | 'fleet' | 'registrar' | 'dns';

/** The interfaces to everything outside the service. */
export interface Ports {
  readonly clock: Clock;
  readonly random: Random;
  readonly hypervisor: Hypervisor;
  readonly fleet: Fleet;
  readonly registrar: Registrar;
  readonly dns: Dns;
}
