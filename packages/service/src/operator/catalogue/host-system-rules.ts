import type { BrokenRule, DefineHostSystemRequest } from '@reseller/operator-client';

import { NETWORK_SPEED } from '../../generated/facts.gen.ts';

/** The rules of a host system that its schema cannot express. */
export function brokenHostSystemRules({ ranges, datacenter, nodes }: DefineHostSystemRequest): BrokenRule[] {
  const errors: BrokenRule[] = [];
  for (const [resource, { min, max }] of Object.entries(ranges)) {
    if (max < min) errors.push({ pointer: `#/ranges/${resource}/max`, detail: `must not be below min, which is ${min}` });
  }
  const { minimum, multipleOf } = NETWORK_SPEED;
  if (ranges.network_speed.min < minimum || ranges.network_speed.min % multipleOf !== 0)
    errors.push({ pointer: '#/ranges/network_speed/min', detail: `must be at least ${minimum} and a multiple of ${multipleOf}` });
  if (ranges.network_speed.step % multipleOf !== 0)
    errors.push({ pointer: '#/ranges/network_speed/step', detail: `must be a multiple of ${multipleOf}` });
  // Specification: "VM", `network_speed` and `storage`.
  const isFrankfurt = /frankfurt/i.test(datacenter.city);
  const fastest = isFrankfurt ? 1000 : NETWORK_SPEED.maximum;
  if (ranges.network_speed.max > fastest)
    errors.push({ pointer: '#/ranges/network_speed/max', detail: `must be at most ${fastest} in ${datacenter.city}` });
  if (ranges.storage && !isFrankfurt) errors.push({ pointer: '#/ranges/storage', detail: 'must be left out: only Frankfurt has HDDs' });
  const names = nodes.map(({ name }) => name);
  names.forEach((name, index) => {
    if (names.indexOf(name) < index)
      errors.push({ pointer: `#/nodes/${index}/name`, detail: `must be unique; ${name} is already in the list` });
  });
  return errors;
}
