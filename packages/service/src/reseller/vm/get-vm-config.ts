import type { VmConfiguration } from '@reseller/client/extension';
import type { Selectable } from 'kysely';

import { vatAt } from '../../core/accounting/account-vat.ts';
import type { HostSystem } from '../../core/catalogue/host-system.ts';
import { addressesOf, ofFamily } from '../../core/vm/addresses.ts';
import type { AssignedAddress } from '../../core/vm/addresses.ts';
import { hostSystemOf } from '../../core/vm/change.ts';
import { findOwnVm } from '../../core/vm/own-vm.ts';
import { userDataHash } from '../../core/vm/user-data.ts';
import type { Ports } from '../../ports/ports.ts';
import { labelsOf } from '../../rules/labels.ts';
import { keyDetailsOf } from '../../rules/ssh-key.ts';
import type { VmsTable } from '../../store/tables/vms.ts';
import type { ReadOperation } from '../operation.ts';
import { monitoringOf } from './set-vm-monitoring.ts';
import { toPricings, toResources } from './vm-resources.ts';

/** GET /vm/{vmid}/config: the host system, the resources, the addresses and the price of a VM. */
export const getVmConfig: ReadOperation<'getVmConfig'> = {
  kind: 'read',
  // The end of a period may change the price.
  settles: true,
  async run(db, { accountId, path, now, runtime }) {
    const vm = await findOwnVm(db, accountId, path.vmid);
    const host = await hostSystemOf(db, vm);
    const os = await db.selectFrom('os_images').selectAll().where('name', '=', vm.os).executeTakeFirstOrThrow();
    const addresses = await addressesOf(db, vm.id);
    return {
      message: 'The VM was found.',
      data: {
        identifier: vm.id,
        hostsystem: toHostsystem(host, vm.node),
        config: {
          ...toResources(vm),
          traffic_limit: host.included_traffic,
          os: { name: os.name, displayname: os.displayname },
          username: os.username,
          password_enabled: vm.password_enabled === null ? null : vm.password_enabled === 1,
          ssh_key: vm.ssh_key === null ? null : { displayname: vm.ssh_key_displayname, fingerprint: keyDetailsOf(vm.ssh_key).fingerprint },
          iso: vm.iso === null ? null : { name: vm.iso, displayname: isoNamed(vm.iso, runtime.ports), attached: true },
          user_data_sha256: await userDataHash(db, vm.id),
          name: vm.name ?? vm.hostname,
          hostname: vm.hostname,
          labels: labelsOf(vm.labels),
          ipv4: ofFamily(4, addresses).map((one) => ({ ...toAddress(vm, one), ddos_protection: one.ddosProtection })),
          ipv6: ofFamily(6, addresses).map((one) => toAddress(vm, one)),
        },
        monitoring: await monitoringOf(db, vm.id),
        abuse_status: vm.abuse_status,
        abuse_reason: vm.abuse_reason,
        abuse_statement: vm.abuse_statement,
        max_config: toMaxConfig(host),
        pricings: toPricings(BigInt(vm.monthly_price), await vatAt(db, accountId, now)),
      },
    };
  },
};

/** A VM that does not run needs only its next start. */
function toAddress({ state }: Selectable<VmsTable>, { address, gateway, requiresRestart }: AssignedAddress) {
  return { ip_address: address, ip_gateway: gateway, requires_restart: state === 'running' && requiresRestart === 1 };
}

function isoNamed(name: string, { hypervisor }: Ports): string {
  return hypervisor.isos?.files.find((file) => file.name === name)?.displayname ?? name;
}

function toHostsystem(host: HostSystem, node: string): VmConfiguration['hostsystem'] {
  const { name, processor, memory, nvme_hard_drives } = host;
  return {
    datacenter: { name: host.datacenter_name, country: host.datacenter_country, city: host.datacenter_city },
    name,
    node,
    processor,
    memory,
    nvme_hard_drives,
  };
}

function toMaxConfig({ ranges }: HostSystem): VmConfiguration['max_config'] {
  const { cores, mem, disk, storage, ips, network_speed, backup_slots } = ranges;
  return toResources({
    cores: cores.max,
    mem: mem.max,
    disk: disk.max,
    storage: storage?.max ?? null,
    ips: ips.max,
    network_speed: network_speed.max,
    backup_slots: backup_slots.max,
  });
}
