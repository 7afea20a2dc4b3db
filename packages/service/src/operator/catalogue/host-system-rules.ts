import type { BrokenRule, DefineHostSystemRequest } from '../../generated/operator/types.gen.ts';

/** What the schema of a host system cannot say. */
export function brokenRules({ ranges, datacenter, nodes }: DefineHostSystemRequest): BrokenRule[] {
  const errors: BrokenRule[] = [];
  for (const [resource, { min, max }] of Object.entries(ranges)) {
    if (max < min) errors.push({ pointer: `#/ranges/${resource}/max`, detail: `must not be below min, which is ${min}` });
  }
  // Specification: "VM", `network_speed` and `storage`.
  const isFrankfurt = /frankfurt/i.test(datacenter.city);
  const fastest = isFrankfurt ? 1000 : 5000;
  if (ranges.network_speed.max > fastest)
    errors.push({ pointer: '#/ranges/network_speed/max', detail: `must be at most ${fastest} in ${datacenter.city}` });
  if (ranges.storage && !isFrankfurt) errors.push({ pointer: '#/ranges/storage', detail: 'must be left out: only Frankfurt has HDDs' });
  const names = nodes.map(({ name }) => name);
  names.forEach((name, index) => {
    if (names.indexOf(name) < index) errors.push({ pointer: `#/nodes/${index}/name`, detail: `must not be ${name} twice` });
  });
  return errors;
}
