import type { BrokenRule, DefineHostSystemRequest } from '@reseller/operator-client';

import { NETWORK_SPEED } from '../../generated/facts.gen.ts';

/** The rules of a host system that its schema cannot express. */
export function brokenHostSystemRules({ ranges, nodes }: DefineHostSystemRequest): BrokenRule[] {
  const errors: BrokenRule[] = [];
  for (const [resource, { min, max }] of Object.entries(ranges)) {
    if (max < min) errors.push({ pointer: `#/ranges/${resource}/max`, detail: `must not be below min, which is ${min}` });
  }
  // What the form of a purchase takes. Cities and kinds of disks are the provider's business.
  const { minimum, maximum, multipleOf } = NETWORK_SPEED;
  if (ranges.network_speed.min < minimum || ranges.network_speed.min % multipleOf !== 0)
    errors.push({ pointer: '#/ranges/network_speed/min', detail: `must be at least ${minimum} and a multiple of ${multipleOf}` });
  if (ranges.network_speed.step % multipleOf !== 0)
    errors.push({ pointer: '#/ranges/network_speed/step', detail: `must be a multiple of ${multipleOf}` });
  if (ranges.network_speed.max > maximum)
    errors.push({ pointer: '#/ranges/network_speed/max', detail: `must be at most ${maximum}, the most that a purchase can name` });
  const names = nodes.map(({ name }) => name);
  names.forEach((name, index) => {
    if (names.indexOf(name) < index)
      errors.push({ pointer: `#/nodes/${index}/name`, detail: `must be unique; ${name} is already in the list` });
  });
  return errors;
}
