import { samplesOf, trafficOf, USAGE_INTERVAL_MS } from '../core/vm/usage.ts';
import { toInstant } from '../rules/instants.ts';
import type { ReadOperation } from './operation.ts';
import { vmOf } from './vm.ts';

/** GET /vms/{vm_id}/usage */
export const getVmUsage: ReadOperation<'getVmUsage'> = {
  kind: 'read',
  async run(db, { path, now }) {
    const { id } = await vmOf(db, path.vm_id);
    const samples = await samplesOf(db, id, now);
    return { interval: USAGE_INTERVAL_MS / 1000, samples: samples.map(({ at, ...sample }) => ({ at: toInstant(at), ...sample })) };
  },
};

/** GET /vms/{vm_id}/traffic */
export const getVmTraffic: ReadOperation<'getVmTraffic'> = {
  kind: 'read',
  run: async (db, { path, now }) => trafficOf(db, await vmOf(db, path.vm_id), now),
};
