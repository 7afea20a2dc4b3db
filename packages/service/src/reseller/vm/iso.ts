import type { IsoFile } from '@reseller/adapters';

import { bootFromIso } from '../../core/vm/iso.ts';
import { counted } from '../../rules/counted.ts';
import type { DeliveredOperation, ReadOperation } from '../operation.ts';
import { requestOf } from './vm-request.ts';

/** GET /vm/list/iso: the ISO files from which a VM can boot. */
export const listIsoFiles: ReadOperation<'listIsoFiles'> = {
  kind: 'read',
  settles: false,
  async run(_db, { runtime: { ports } }) {
    const files = ports.hypervisor.isos?.files ?? [];
    return {
      message: `${counted(files.length, 'ISO file')}.`,
      data: files.map(({ name, displayname, platform }) => ({ name, displayname, platform })),
    };
  },
};

/** POST /vm/{vmid}/iso/attach: restarts a VM, which boots from an ISO file. */
export const attachVmIso: DeliveredOperation<'attachVmIso', IsoFile | null> = {
  kind: 'delivered',
  deliver: (steps, call) => bootFromIso(steps, { ...requestOf(call), iso: call.form.iso }),
  success: async (file) => ({ message: `The VM boots from ${file?.displayname ?? 'its disk'}.`, data: null }),
};

/** POST /vm/{vmid}/iso/detach: restarts a VM, which boots from its disk. */
export const detachVmIso: DeliveredOperation<'detachVmIso', IsoFile | null> = {
  kind: 'delivered',
  deliver: (steps, call) => bootFromIso(steps, { ...requestOf(call), iso: null }),
  success: async () => ({ message: 'The VM boots from its disk.', data: null }),
};
