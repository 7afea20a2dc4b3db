import type { CreateVmForm } from '@reseller/client/extension';

import type { WantedVm } from '../../core/vm/create.ts';
import { DEFAULTS } from '../../generated/facts.gen.ts';
import type { BrokenField } from '../../rules/broken-field.ts';
import { publicKeyOf } from '../../rules/ssh-key.ts';

/** The VM that a form wants, with the defaults of the document (specification: "PUT /vm/create form fields"). */
export function wantedVmOf(form: CreateVmForm): WantedVm {
  const { cores, mem, disk, storage, ips, backup_slots, network_speed, os, hostsystem, hostname, ...more } = {
    ...DEFAULTS.CreateVmForm,
    ...form,
  };
  const { ssh_key, ssh_key_displayname, default_ptr, allowFallbackIPs, max_price: _maxPrice, ...unused } = more;
  // A field of the document that is missing here does not compile.
  unused satisfies Record<string, never>;
  return {
    cores,
    mem,
    disk,
    storage: storage ?? null,
    ips,
    backup_slots,
    network_speed,
    os,
    hostsystem,
    hostname,
    sshKey: ssh_key === undefined ? null : (publicKeyOf(ssh_key) ?? null),
    sshKeyDisplayname: ssh_key === undefined ? null : (ssh_key_displayname ?? null),
    allowFallbackIPs,
    defaultPtr: default_ptr ?? null,
  };
}

/** The rules of the form that need no host system and that its schema cannot express. */
export function brokenFormRules({ ssh_key }: CreateVmForm): BrokenField[] {
  if (ssh_key === undefined || publicKeyOf(ssh_key) !== undefined) return [];
  return [{ field: 'ssh_key', rule: 'ssh_key', message: 'must be a whole public key: its data cannot be read as a key of its type' }];
}
