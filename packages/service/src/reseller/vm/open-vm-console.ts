import { createConsoleLink } from '../../core/vm/console.ts';
import { findUnblockedVm } from '../../core/vm/own-vm.ts';
import { requirePart } from '../../core/vm/require-part.ts';
import { counted } from '../../rules/counted.ts';
import { toInstant } from '../../rules/instants.ts';
import { Refusal } from '../../rules/refusal.ts';
import { CONSOLE_PATH } from '../../rules/vm-console.ts';
import type { StoreOperation } from '../operation.ts';

/** POST /vm/{vmid}/console */
export const openVmConsole: StoreOperation<'openVmConsole'> = {
  kind: 'store',
  async run({ db }, { accountId, keyId, path, now, runtime: { ports, consoleLimits, publicUrl } }) {
    const vm = await findUnblockedVm(db, accountId, path.vmid);
    requirePart(ports.hypervisor, 'console');
    if (vm.state !== 'running')
      throw new Refusal(409, 'wrong_state', `The VM ${vm.id} is ${vm.state}. Only a running VM has a console. Start it first.`);
    const { secret, expires } = await createConsoleLink(db, ports, consoleLimits, { vmId: vm.id, accountId, keyId, now });
    return {
      message: `The console can be opened once, within ${counted(consoleLimits.linkMs / 1000, 'second')}.`,
      data: {
        console_url: `${publicUrl()}${CONSOLE_PATH}/#${secret}`,
        expires_at: toInstant(expires),
        session_seconds: consoleLimits.sessionMs / 1000,
      },
    };
  },
};
