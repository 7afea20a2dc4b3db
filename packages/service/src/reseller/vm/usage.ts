import { findOwnVm } from '../../core/vm/own-vm.ts';
import { samplesOf, trafficOf, USAGE_INTERVAL_MS } from '../../core/vm/usage.ts';
import type { Traffic } from '../../core/vm/usage.ts';
import { counted } from '../../rules/counted.ts';
import { toInstant } from '../../rules/instants.ts';
import { bytesOf } from '../../rules/usage.ts';
import type { ReadOperation } from '../operation.ts';

/** GET /vm/{vmid}/usage */
export const getVmUsage: ReadOperation<'getVmUsage'> = {
  kind: 'read',
  settles: false,
  async run(db, { accountId, path, now }) {
    const { id } = await findOwnVm(db, accountId, path.vmid);
    const samples = await samplesOf(db, id, now);
    return {
      message:
        samples.length === 0
          ? 'The VM was not measured in the last 24 hours.'
          : `The VM was measured ${counted(samples.length, 'time')} in the last 24 hours.`,
      data: {
        interval: USAGE_INTERVAL_MS / 1000,
        list: samples.map(({ at, ...sample }) => ({ at: toInstant(at), ...sample })),
      },
    };
  },
};

/** GET /vm/{vmid}/traffic */
export const getVmTraffic: ReadOperation<'getVmTraffic'> = {
  kind: 'read',
  settles: false,
  async run(db, { accountId, path, now }) {
    const traffic = await trafficOf(db, await findOwnVm(db, accountId, path.vmid), now);
    return { message: trafficMessageOf(traffic, now), data: traffic };
  },
};

function trafficMessageOf({ months, included }: Traffic, now: number): string {
  if (months.length === 0) return 'The service has counted no traffic of the VM.';
  const month = new Date(now).toISOString().slice(0, 7);
  const used = ((months.find((one) => one.month === month)?.total ?? 0) / bytesOf(1)).toFixed(2);
  return `The VM had ${used} GB of traffic in ${month}${included === null ? '' : `, of ${included / bytesOf(1)} GB that are included`}.`;
}
