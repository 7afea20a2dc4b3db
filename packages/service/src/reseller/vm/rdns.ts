import type { RdnsList } from '@reseller/client/extension';

import { findOwnVm, findUnblockedVm } from '../../core/vm/own-vm.ts';
import { rdnsOf, setName } from '../../core/vm/rdns.ts';
import type { Ports } from '../../ports/ports.ts';
import type { BrokenField } from '../../rules/broken-field.ts';
import { counted } from '../../rules/counted.ts';
import { invalid, notFound } from '../../rules/refusal.ts';
import { lockAccount } from '../../store/account-lock.ts';
import type { Db } from '../../store/store.ts';
import type { ReadOperation, StoreOperation } from '../operation.ts';

const UNKNOWN_ADDRESS: BrokenField = {
  field: 'ip_address',
  rule: 'exists',
  message: 'must be an address of this VM, or one in its IPv6 network: GET /vm/{vmid}/rdns lists them',
};

/** GET /vm/{vmid}/rdns */
export const listVmRdns: ReadOperation<'listVmRdns'> = {
  kind: 'read',
  settles: false,
  async run(db, { accountId, path, runtime: { ports } }) {
    const { id } = await findOwnVm(db, accountId, path.vmid);
    const data = await toList(db, ports, id);
    return { message: `${counted(data.list.filter(({ domain }) => domain !== null).length, 'name')}.`, data };
  },
};

/** POST /vm/{vmid}/rdns */
export const setVmRdns: StoreOperation<'setVmRdns'> = {
  kind: 'store',
  async run({ db }, { accountId, path, form: { ip_address: address, domain }, runtime: { ports } }) {
    await lockAccount(db, accountId);
    const { id: vmId } = await findUnblockedVm(db, accountId, path.vmid);
    if (!(await setName(db, ports, { vmId, address, domain }))) throw invalid([UNKNOWN_ADDRESS]);
    return { message: 'The name was set. DNS follows within seconds.', data: await toList(db, ports, vmId) };
  },
};

/** DELETE /vm/{vmid}/rdns/{ip_address}/remove */
export const removeVmRdns: StoreOperation<'removeVmRdns'> = {
  kind: 'store',
  async run({ db }, { accountId, path, runtime: { ports } }) {
    await lockAccount(db, accountId);
    const { id: vmId } = await findUnblockedVm(db, accountId, path.vmid);
    if (!(await setName(db, ports, { vmId, address: path.ip_address, domain: null }))) throw notFound('address');
    return { message: 'The name was removed. DNS follows within seconds.', data: null };
  },
};

async function toList(db: Db, ports: Ports, vmId: number): Promise<RdnsList> {
  const names = await rdnsOf(db, ports, vmId);
  return {
    list: names.map(({ address, domain, forwardConfirmed }) => ({ ip_address: address, domain, forward_confirmed: forwardConfirmed })),
  };
}
