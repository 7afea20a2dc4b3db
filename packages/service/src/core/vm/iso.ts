/** VMs that boot from ISO files of the hypervisor. */
import type { FencingToken, IsoFile } from '@reseller/adapters';
import * as v from 'valibot';

import type { UndoableDelivery } from '../../delivery/delivery.ts';
import type { Runtime } from '../../delivery/runtime.ts';
import type { Steps } from '../../delivery/steps.ts';
import type { Ports } from '../../ports/ports.ts';
import { invalid } from '../../rules/refusal.ts';
import type { Db } from '../../store/store.ts';
import { beginChange, endChange } from './change.ts';
import type { VmRequest } from './change.ts';
import { vmSubject } from './identifier.ts';
import { requirePart } from './require-part.ts';

/** A request to boot a VM from an ISO file. */
export interface IsoRequest extends VmRequest {
  /** Null to boot from the disk. */
  readonly iso: string | null;
}

const details = v.object({
  vmId: v.number(),
  iso: v.nullable(v.string()),
  before: v.nullable(v.string()),
  // Missing in the reservations of earlier versions, which refused a stopped VM.
  isStopped: v.optional(v.boolean()),
});
type Details = v.InferOutput<typeof details>;

export const isoBoot: UndoableDelivery<Details> = {
  name: 'bootFromIso',
  details,
  subject: vmSubject,
  afterTask: ({ db }, booted, runtime) => finishBoot(db, runtime, booted),
  undo: {
    call: (ports, { vmId, before }, token) => boot(ports, { vmId, iso: before }, token),
    async store({ db }, { vmId }) {
      await endChange(db, vmId);
    },
  },
};

/**
 * Restarts a running VM, which boots from another file or from its disk. It stays billed. A stopped VM only gives its file back.
 *
 * @returns The file, or null for the disk.
 */
export async function bootFromIso(steps: Steps<IsoFile | null>, request: IsoRequest): Promise<IsoFile | null> {
  const { runtime, iso } = request;
  const { details: booted, file } = await steps.reserve(isoBoot, async ({ db }) => {
    const { vm } = await beginChange(db, request, iso === null ? 'eject' : 'restart');
    const { files } = requirePart(runtime.ports.hypervisor, 'isos');
    const wanted = iso === null ? null : fileNamed(iso, files);
    if (wanted === null && vm.iso === null) {
      await endChange(db, vm.id);
      return steps.inPlace(null);
    }
    return { accountId: vm.account_id, details: { vmId: vm.id, iso, before: vm.iso, isStopped: vm.state === 'stopped' }, file: wanted };
  });
  const task = await steps.call((ports, token) => boot(ports, booted, token));
  if (task) return steps.wait(async () => file);
  return steps.confirm(async ({ db }) => {
    await finishBoot(db, runtime, booted);
    return file;
  });
}

async function finishBoot(db: Db, { ports }: Runtime, { vmId, iso, isStopped = false }: Omit<Details, 'before'>): Promise<void> {
  await endChange(db, vmId, { iso, ...(!isStopped && { booted: ports.clock.now() }) });
}

function boot(ports: Ports, { vmId, iso }: Pick<Details, 'vmId' | 'iso'>, token: FencingToken) {
  const isos = requirePart(ports.hypervisor, 'isos');
  return iso === null ? isos.eject(vmId, token) : isos.insert(vmId, iso, token);
}

function fileNamed(name: string, files: readonly IsoFile[]): IsoFile {
  const file = files.find((one) => one.name === name);
  if (file) return file;
  const message =
    files.length === 0 ? 'names no file, because the provider offers none' : `must be one of ${files.map((one) => one.name).join(', ')}`;
  throw invalid([{ field: 'iso', rule: 'exists', message }]);
}
