import type { Hypervisor } from '@reseller/adapters';

import { Refusal } from '../../rules/refusal.ts';

/** The end of the message for each part that an adapter may omit: the lack, and another way for the reseller. */
const withoutPart = {
  backups: 'makes no backups. Back up the VM from inside, or ask the provider.',
  console: 'has no console. Use SSH, or ask the provider.',
  isos: 'cannot boot VMs from ISO files. Ask the provider for another way, such as a reinstallation.',
  reaches: 'cannot check the ports of VMs. Check them from outside.',
} as const satisfies { readonly [Part in keyof Hypervisor]?: string };

/**
 * Returns a part of a hypervisor that its adapter may omit.
 *
 * @throws Refusal 501 if the adapter omits it.
 */
export function requirePart<Part extends keyof typeof withoutPart>(hypervisor: Hypervisor, part: Part): NonNullable<Hypervisor[Part]> {
  const found = hypervisor[part];
  if (found) return found;
  throw new Refusal(501, 'not_implemented', `The hypervisor of this service ${withoutPart[part]}`);
}
