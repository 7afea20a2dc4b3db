/** VMs that boot from ISO files of the hypervisor. */
import type { IsoFile } from '@reseller/adapters';
import * as v from 'valibot';

import type { UndoableDelivery } from '../../delivery/delivery.ts';
import type { Runtime } from '../../delivery/runtime.ts';
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

interface Plan extends Details {
  readonly request: IsoRequest;
  readonly file: IsoFile | null;
}

/**
 * Restarts a running VM, which boots from another file or from its disk. It stays billed. A stopped VM only gives its file back. The result is
 * the file, or null for the disk.
 */
export const bootFromIso: UndoableDelivery<IsoRequest, Details, Plan, IsoFile | null> = {
  name: 'bootFromIso',
  recovery: 'undo',
  details,
  subject: vmSubject,
  async reserve({ db }, request) {
    const { vm } = await beginChange(db, request, request.iso === null ? 'eject' : 'restart');
    const { files } = requirePart(request.runtime.ports.hypervisor, 'isos');
    const file = request.iso === null ? null : fileNamed(request.iso, files);
    if (file === null && vm.iso === null) {
      await endChange(db, vm.id);
      return { result: null };
    }
    const stored = { vmId: vm.id, iso: request.iso, before: vm.iso, isStopped: vm.state === 'stopped' };
    return { accountId: vm.account_id, details: stored, plan: { ...stored, request, file } };
  },
  call: ({ hypervisor }, { vmId, iso }, token) => boot({ hypervisor }, vmId, iso, token),
  async confirm({ db }, { request: { runtime }, file, ...booted }) {
    await finishBoot(db, runtime, booted);
    return file;
  },
  compensate: ({ hypervisor }, { vmId, before }, token) => boot({ hypervisor }, vmId, before, token),
  async rollBack({ db }, { vmId }) {
    await endChange(db, vmId);
  },
  asTask: {
    begin: async (_transaction, { file }) => file,
    finish: ({ db }, booted, runtime) => finishBoot(db, runtime, booted),
  },
};

async function finishBoot(db: Db, { ports }: Runtime, { vmId, iso, isStopped = false }: Omit<Details, 'before'>): Promise<void> {
  await endChange(db, vmId, { iso, ...(!isStopped && { booted: ports.clock.now() }) });
}

function boot(ports: Pick<Ports, 'hypervisor'>, vmId: number, iso: string | null, token: number) {
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
