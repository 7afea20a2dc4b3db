import type { Clock } from './clock.ts';
import type { Hypervisor } from './hypervisor.ts';
import type { Random } from './random.ts';

/** What the service reaches the rest of the world through. */
export interface Ports {
  readonly clock: Clock;
  readonly random: Random;
  readonly hypervisor: Hypervisor;
}
