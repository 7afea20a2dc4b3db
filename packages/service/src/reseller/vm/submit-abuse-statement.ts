import { storeStatement } from '../../core/vm/abuse.ts';
import { findOwnVm } from '../../core/vm/own-vm.ts';
import type { StoreOperation } from '../operation.ts';

/** POST /vm/{vmid}/abuse/statement: tells the provider what the reseller says about a complaint. */
export const submitVmAbuseStatement: StoreOperation<'submitVmAbuseStatement'> = {
  kind: 'store',
  async run({ db }, { accountId, path, form }) {
    const { id } = await findOwnVm(db, accountId, path.vmid);
    await storeStatement(db, id, form.statement);
    return { message: 'The provider has your statement. Its decision is a new abuse_status of the VM.', data: null };
  },
};
