/** Complaints about VMs: their status, which only the provider changes, and the statements of resellers. */
import type { Selectable } from 'kysely';

import { runCommand } from '../../delivery/command.ts';
import type { CommandHooks } from '../../delivery/command.ts';
import type { FinishableDelivery } from '../../delivery/delivery.ts';
import type { Runtime } from '../../delivery/runtime.ts';
import { finish } from '../../delivery/steps.ts';
import type { Steps } from '../../delivery/steps.ts';
import { Refusal } from '../../rules/refusal.ts';
import { lockAccount } from '../../store/account-lock.ts';
import type { Db } from '../../store/store.ts';
import type { VmsTable } from '../../store/tables/vms.ts';
import { endPosition } from '../accounting/vm-billing.ts';
import { beginChange, underWay } from './change.ts';
import type { VmRequest } from './change.ts';
import { settledInstant, vmStop } from './deliveries.ts';
import type { VmDetails } from './deliveries.ts';

export type AbuseStatus = 'CLEAN' | 'WARNED' | 'STATEMENT_EXPECTED' | 'BLOCKED';

/** A new status, and why. */
export interface AbuseChange {
  readonly status: AbuseStatus;
  readonly reason: string;
}

export const vmBlock: FinishableDelivery<VmDetails> = {
  ...vmStop,
  name: 'blockVm',
  describeFailure: () =>
    'The VM is blocked, but the hypervisor has not confirmed that it is stopped. The service retries until it does. Check the VM in a few seconds.',
};

/** Blocks a running VM, and stops its machine. It is billed on. */
function blockVm(steps: Steps<void>, request: VmRequest, change: AbuseChange): Promise<void> {
  return finish(steps, vmBlock, async ({ db }) => {
    const { vm } = await beginChange(db, request, 'stop');
    await storeAbuse(db, vm.id, change);
    return { accountId: vm.account_id, details: { vmId: vm.id } };
  });
}

/**
 * Sets the status of a VM. A block stops a VM that runs. A VM that is no longer blocked stays stopped, and its billing ends. The same status with
 * the same reason changes nothing.
 *
 * @throws Refusal 409 if the VM does not exist, or is being changed.
 */
export async function setAbuseStatus(runtime: Runtime, vmId: number, change: AbuseChange, hooks?: CommandHooks): Promise<void> {
  const { state } = await runtime.store.read((db) => vmRow(db, vmId));
  if (change.status === 'BLOCKED' && state === 'running')
    return runCommand(runtime, (steps) => blockVm(steps, { runtime, vmId }, change), hooks);
  await runtime.store.commit(async ({ db }) => {
    await hooks?.before(db);
    await changeAbuse(db, runtime, { vmId, ...change });
    await hooks?.after(db);
  });
}

async function changeAbuse(db: Db, runtime: Runtime, { vmId, ...change }: AbuseChange & { readonly vmId: number }): Promise<void> {
  // The lock keeps other transactions from changing the VM.
  await lockAccount(db, (await vmRow(db, vmId)).account_id);
  const vm = await vmRow(db, vmId);
  if (vm.state === 'reserved' || vm.state === 'removed')
    throw new Refusal(409, 'wrong_state', `The VM ${vmId} is ${vm.state}. Only a VM that exists has an abuse status.`);
  if (vm.abuse_status === change.status && vm.abuse_reason === change.reason) return;
  if (change.status === 'BLOCKED' && (vm.state !== 'stopped' || vm.changing !== 0)) throw underWay(vmId);
  if (vm.abuse_status === 'BLOCKED' && change.status !== 'BLOCKED') await endPosition(db, vmId, await settledInstant(db, vm, runtime));
  await storeAbuse(db, vmId, change);
}

function vmRow(db: Db, vmId: number): Promise<Selectable<VmsTable>> {
  return db.selectFrom('vms').selectAll().where('id', '=', vmId).executeTakeFirstOrThrow();
}

async function storeAbuse(db: Db, vmId: number, { status, reason }: AbuseChange): Promise<void> {
  // A block keeps the statement, which may be about it.
  const isOver = status === 'CLEAN' || status === 'STATEMENT_EXPECTED';
  const changed = { abuse_status: status, abuse_reason: reason, ...(isOver && { abuse_statement: null }) };
  await db.updateTable('vms').set(changed).where('id', '=', vmId).execute();
}

/** Stores the statement of a reseller, in the place of an earlier one. @throws Refusal 409 if the provider expects none. */
export async function storeStatement(db: Db, vmId: number, statement: string): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable('vms')
    .set({ abuse_statement: statement })
    .where('id', '=', vmId)
    .where('abuse_status', 'in', ['STATEMENT_EXPECTED', 'BLOCKED'])
    .executeTakeFirst();
  if (numUpdatedRows > 0n) return;
  throw new Refusal(
    409,
    'wrong_state',
    `The provider expects no statement about the VM ${vmId}. Read abuse_status in GET /vm/{vmid}/config: it must be STATEMENT_EXPECTED or BLOCKED.`,
  );
}
