import type { StoreOperation } from '../../operation.ts';
import { allHostSystems } from '../host-system.ts';

/** GET /vm/list/hosts: the host systems with the bounds of what a VM on them may have. */
export const listVmHosts: StoreOperation<'listVmHosts'> = {
  kind: 'store',
  async run({ db }) {
    const hosts = await allHostSystems(db);
    return {
      message: `${hosts.length} host systems.`,
      data: hosts.map((host) => ({
        name: host.name,
        displayname: host.displayname,
        datacenter: {
          name: host.datacenter_name,
          displayname: host.datacenter_displayname,
          country: host.datacenter_country,
          city: host.datacenter_city,
        },
        hardware: { processor: host.processor, memory: host.memory, nvme_hard_drives: host.nvme_hard_drives },
        configuration: host.ranges,
      })),
    };
  },
};
