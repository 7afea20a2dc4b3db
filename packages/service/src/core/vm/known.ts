import type { Db } from '../../store/store.ts';
import type { Known } from './compare.ts';

/** The nodes, operating systems and VMs of the store. Retired nodes are left out. */
export async function readKnown(db: Db): Promise<Known> {
  const nodes = await db
    .selectFrom('host_nodes')
    .select(['name', 'cores', 'mem', 'disk', 'storage'])
    .where('retired', '=', 0)
    .orderBy('name')
    .execute();
  const images = await db.selectFrom('os_images').select('name').orderBy('name').execute();
  const vms = await db
    .selectFrom('vms')
    .select(['id', 'state', 'changing', 'is_sample', 'node', 'cores', 'mem', 'disk', 'os', 'hostname'])
    .orderBy('id')
    .execute();
  // A purchase is in progress until its VM is no longer reserved.
  return {
    nodes,
    images: images.map(({ name }) => name),
    vms: vms.map((vm) => ({ ...vm, changing: vm.state === 'reserved' ? 1 : vm.changing })),
  };
}
