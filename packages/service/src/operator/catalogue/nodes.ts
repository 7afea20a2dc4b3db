import type { HostNodeInput } from '@reseller/operator-client';

import { counted } from '../../rules/counted.ts';
import type { Db } from '../../store/store.ts';
import { OperatorProblem } from '../problem.ts';

/**
 * Replaces the nodes of a host system. Each is a conditional update, so a concurrent purchase cannot lose its room.
 *
 * @throws OperatorProblem 409 if VMs use room that would be removed, or a node belongs to another host system.
 */
export async function replaceNodes(db: Db, hostsystem: string, nodes: readonly HostNodeInput[]): Promise<void> {
  const names = new Set(nodes.map(({ name }) => name));
  const present = await db.selectFrom('host_nodes').select('name').where('hostsystem', '=', hostsystem).where('retired', '=', 0).execute();
  for (const { name } of present) if (!names.has(name)) await retire(db, name);
  for (const node of nodes) await upsert(db, hostsystem, node);
}

async function upsert(db: Db, hostsystem: string, { name, cores, mem, disk, storage }: HostNodeInput): Promise<void> {
  const capacity = { cores, mem, disk, storage };
  const nothingUsed = { used_cores: 0, used_mem: 0, used_disk: 0, used_storage: 0 };
  const stored = await db
    .insertInto('host_nodes')
    .values({ name, hostsystem, ...capacity, ...nothingUsed })
    .onConflict((conflict) =>
      conflict
        .column('name')
        .doUpdateSet({ ...capacity, retired: 0 })
        .where('host_nodes.hostsystem', '=', hostsystem)
        .where('host_nodes.used_cores', '<=', cores)
        .where('host_nodes.used_mem', '<=', mem)
        .where('host_nodes.used_disk', '<=', disk)
        .where('host_nodes.used_storage', '<=', storage),
    )
    .returning('name')
    .executeTakeFirst();
  if (stored) return;
  const node = await db.selectFrom('host_nodes').selectAll().where('name', '=', name).executeTakeFirstOrThrow();
  if (node.hostsystem !== hostsystem)
    throw new OperatorProblem('in-use', `The node ${name} belongs to the host system ${node.hostsystem}. Choose another name.`);
  const { used_cores, used_mem, used_disk, used_storage } = node;
  throw new OperatorProblem(
    'in-use',
    `VMs use ${used_cores} cores, ${used_mem} MB of memory, ${used_disk} GB of NVMe and ${used_storage} GB of HDD of the node ${name}. Its capacity must be at least that.`,
  );
}

/** Retires a node without VMs. Its row stays, without capacity, because removed VMs refer to it. */
async function retire(db: Db, name: string): Promise<void> {
  const retired = await db
    .updateTable('host_nodes')
    .set({ retired: 1, cores: 0, mem: 0, disk: 0, storage: 0 })
    .where('name', '=', name)
    .where('used_cores', '=', 0)
    .executeTakeFirst();
  if (retired.numUpdatedRows > 0n) return;
  const { count } = await db
    .selectFrom('vms')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('node', '=', name)
    .where('state', '!=', 'removed')
    .executeTakeFirstOrThrow();
  throw new OperatorProblem('in-use', `The node ${name} has ${counted(count, 'VM')}. Keep the node, or remove the VMs first.`);
}
