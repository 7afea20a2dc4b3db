import type { VmRdns } from '@reseller/operator-client';

import { rdnsOf, reversePublicationOf, setName } from '../core/vm/rdns.ts';
import type { Ports } from '../ports/ports.ts';
import { lockAccount } from '../store/account-lock.ts';
import type { Db } from '../store/store.ts';
import type { ReadOperation, StoreOperation } from './operation.ts';
import { requireFound } from './problem.ts';
import { vmOf } from './vm.ts';

/** GET /vms/{vm_id}/rdns */
export const getVmRdns: ReadOperation<'getVmRdns'> = {
  kind: 'read',
  run: (db, { path, runtime }) => describeRdns(db, runtime.ports, path.vm_id),
};

/** PUT /vms/{vm_id}/rdns/{ip_address} */
export const setVmRdns: StoreOperation<'setVmRdns'> = {
  kind: 'store',
  async before(db, { path, runtime }) {
    await lockAccount(db, (await vmOf(db, path.vm_id)).account_id);
    return describeRdns(db, runtime.ports, path.vm_id);
  },
  async run({ db }, { path, body: { domain }, runtime: { ports } }) {
    const { id: vmId } = await vmOf(db, path.vm_id);
    const isOfVm = await setName(db, ports, { vmId, address: path.ip_address, domain });
    requireFound(isOfVm || undefined, `address ${path.ip_address} of the VM ${vmId}`);
    return describeRdns(db, ports, path.vm_id);
  },
};

async function describeRdns(db: Db, ports: Ports, id: string): Promise<VmRdns> {
  const { id: vmId } = await vmOf(db, id);
  const names = await rdnsOf(db, ports, vmId);
  const { isPublished, error } = await reversePublicationOf(db, vmId);
  return {
    names: names.map(({ address, domain, forwardConfirmed }) => ({ ip_address: address, domain, forward_confirmed: forwardConfirmed })),
    zone_published: isPublished,
    zone_error: error,
  };
}
