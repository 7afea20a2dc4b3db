import { addressesOf } from '../../core/vm/addresses.ts';
import { findOwnVm } from '../../core/vm/own-vm.ts';
import { counted } from '../../rules/counted.ts';
import type { ReadOperation } from '../operation.ts';

/** GET /vm/{vmid}/ddos: the protection of each address of a VM. */
export const getVmDdosProtection: ReadOperation<'getVmDdosProtection'> = {
  kind: 'read',
  settles: false,
  async run(db, { accountId, path }) {
    const { id } = await findOwnVm(db, accountId, path.vmid);
    const addresses = await addressesOf(db, id);
    return {
      message: `${counted(addresses.length, 'address', 'addresses')}.`,
      data: {
        list: addresses.map(({ address, ddosProtection }) => ({ ip_address: address, ddos_protection: ddosProtection })),
      },
    };
  },
};
