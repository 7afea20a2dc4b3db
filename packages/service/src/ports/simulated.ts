import { systemClock } from './clock.ts';
import { simulatedFleet } from './fleet.ts';
import { simulatedHypervisor } from './hypervisor.ts';
import type { Ports } from './ports.ts';
import { systemRandom } from './random.ts';
import { simulatedRegistrar } from './registrar.ts';

/** Simulated infrastructure with the system's clock and random numbers. Ports in `given` replace the simulated ones. */
export function simulatedPorts(given: Partial<Ports> = {}): Ports {
  return {
    clock: systemClock,
    random: systemRandom,
    hypervisor: simulatedHypervisor(),
    fleet: simulatedFleet(),
    registrar: simulatedRegistrar(),
    ...given,
  };
}
