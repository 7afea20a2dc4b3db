import type { Random } from '../rules/random.ts';
import type { Clock } from './clock.ts';
import type { Fleet } from './fleet.ts';
import type { Hypervisor } from './hypervisor.ts';
import type { Registrar } from './registrar.ts';

/** The interfaces to everything outside the service. */
export interface Ports {
  readonly clock: Clock;
  readonly random: Random;
  readonly hypervisor: Hypervisor;
  readonly fleet: Fleet;
  readonly registrar: Registrar;
}
