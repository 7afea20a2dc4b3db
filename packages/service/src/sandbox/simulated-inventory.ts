import type { Hypervisor, Inventory } from '@reseller/adapters';

import { readKnown } from '../core/vm/known.ts';
import type { Store } from '../store/store.ts';

/** Adds an inventory to a hypervisor without machines: whatever the store has exists, and nothing else. */
export function withSimulatedInventory(hypervisor: Hypervisor, store: Store): Hypervisor {
  return {
    ...hypervisor,
    async inventory(): Promise<Inventory> {
      const { nodes, images, vms } = await store.read(readKnown);
      const seen = vms
        .filter(({ state }) => state === 'running' || state === 'stopped')
        .map(({ id, state, node, cores, mem, disk, os, hostname }) => {
          const machine = { node, cores, mem, disk, os, hostname };
          return { resource: `vm-${id}`, vmId: id, running: state === 'running', ...machine };
        });
      return { nodes, images, vms: seen };
    },
  };
}
