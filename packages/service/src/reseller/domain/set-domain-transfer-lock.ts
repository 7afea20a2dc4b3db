import * as v from 'valibot';

import { deliveredCall } from '../operation.ts';
import { registrarChange } from './registrar-change.ts';

export const transferLockChange = registrarChange<'setDomainTransferLock', boolean>({
  name: 'setDomainTransferLock',
  value: v.boolean(),
  wanted: (_db, { form }) => form.transfer_lock,
  before: (_db, domain) => domain.transfer_lock === 1,
  set: (registrar, name, locked, token) => registrar.setTransferLock(name, locked, token),
  columnsOf: (locked) => ({ transfer_lock: locked ? 1 : 0 }),
  success: (locked, _call, { name: domain }) => ({
    message: locked ? 'The transfer lock was set.' : 'The transfer lock was removed.',
    data: { domain, transfer_lock: locked },
  }),
});

/** POST /domain/{domain}/transfer-lock: sets or removes the transfer lock of a domain. */
export const setDomainTransferLock = deliveredCall(transferLockChange.carryOut);
