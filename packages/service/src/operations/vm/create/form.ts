import type { FieldError, CreateVmForm } from '../../../generated/types.gen.ts';
import { isFullyQualified, isHostname } from '../../../rules/hostname.ts';
import type { BilledResources } from '../../../rules/resources.ts';
import { publicKeyOf } from '../../../rules/ssh-key.ts';

/** What a form asks for, its defaults filled in (specification: "PUT /vm/create form fields"). */
export interface VmRequest extends BilledResources {
  readonly os: string;
  readonly hostsystem: string;
  readonly hostname: string;
  readonly sshKey: string | null;
  readonly sshKeyDisplayname: string | null;
  readonly allowFallbackIPs: boolean;
  /** Null where a domain of the provider is to be set. */
  readonly defaultPtr: string | null;
}

/** The form with the defaults that the document names. */
export function vmRequestOf(form: CreateVmForm): VmRequest {
  return {
    cores: form.cores,
    mem: form.mem,
    disk: form.disk,
    os: form.os,
    hostsystem: form.hostsystem,
    ips: form.ips ?? 1,
    backup_slots: form.backup_slots ?? 2,
    network_speed: form.network_speed ?? 1000,
    hostname: form.hostname ?? 'KVM',
    storage: form.storage ?? null,
    sshKey: form.ssh_key === undefined ? null : (publicKeyOf(form.ssh_key) ?? null),
    sshKeyDisplayname: form.ssh_key === undefined ? null : (form.ssh_key_displayname ?? null),
    allowFallbackIPs: form.allowFallbackIPs ?? false,
    defaultPtr: form.default_ptr ?? null,
  };
}

/** Rules of the form that need no host system and that a schema cannot say. */
export function brokenFormRules(form: CreateVmForm): FieldError[] {
  const broken: FieldError[] = [];
  if (form.hostname !== undefined && !isHostname(form.hostname)) {
    broken.push({
      field: 'hostname',
      rule: 'hostname',
      message: 'must be a hostname: labels of letters, digits and inner hyphens, joined by dots',
    });
  }
  if (form.ssh_key !== undefined && publicKeyOf(form.ssh_key) === undefined) {
    broken.push({ field: 'ssh_key', rule: 'ssh_key', message: 'must be a public key in OpenSSH notation, such as ssh-ed25519 AAAA… name' });
  }
  if (form.default_ptr !== undefined && !isFullyQualified(form.default_ptr)) {
    broken.push({
      field: 'default_ptr',
      rule: 'fqdn',
      message: 'must be a fully qualified domain name, such as vm1.reseller-customer.net',
    });
  }
  return broken;
}
