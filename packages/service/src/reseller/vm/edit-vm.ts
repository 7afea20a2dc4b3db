import { findOwnVm, findUnblockedVm } from '../../core/vm/own-vm.ts';
import { labelsOf, readLabels } from '../../rules/labels.ts';
import { invalid } from '../../rules/refusal.ts';
import type { StoreOperation } from '../operation.ts';

/** POST /vm/{vmid}/edit: changes the names and labels of a VM. The hypervisor gets the hostname at the next reinstallation. */
export const editVm: StoreOperation<'editVm'> = {
  kind: 'store',
  async run({ db }, { accountId, path, form }) {
    const { id } = await findUnblockedVm(db, accountId, path.vmid);
    const read = form.labels === undefined ? undefined : readLabels(form.labels);
    if (read !== undefined && 'broken' in read) throw invalid([read.broken]);
    const changed = {
      ...(form.name !== undefined && { name: form.name }),
      ...(form.hostname !== undefined && { hostname: form.hostname }),
      ...(read !== undefined && { labels: JSON.stringify(read.labels) }),
    };
    if (Object.keys(changed).length > 0) await db.updateTable('vms').set(changed).where('id', '=', id).execute();
    const { name, hostname, labels } = await findOwnVm(db, accountId, path.vmid);
    return { message: 'The VM was edited.', data: { name: name ?? hostname, hostname, labels: labelsOf(labels) } };
  },
};
