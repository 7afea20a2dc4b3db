/** Machines whose VMs a sandbox forgets, because it is reset or loses an account. */
import type { FencingToken, Hypervisor } from '@reseller/adapters';

import { forEachConcurrently } from '../../delivery/concurrency.ts';
import { InfrastructureError } from '../../delivery/deliver.ts';
import { issueToken } from '../../delivery/reservation.ts';
import type { Runtime } from '../../delivery/runtime.ts';
import { counted } from '../../rules/counted.ts';
import type { Db } from '../../store/store.ts';
import { vmSubject } from './identifier.ts';

/** A machine to remove. The token is higher than that of a call that may still be in progress, such as of a purchase. */
export interface ForgottenMachine {
  readonly vmId: number;
  readonly token: FencingToken;
}

/** @param accountId One account. Default: all of them. Call it in the transaction that forgets the VMs. */
export async function forgetMachines(db: Db, accountId?: string): Promise<ForgottenMachine[]> {
  const vms = await db
    .selectFrom('vms')
    .select('id')
    .where('state', '!=', 'removed')
    .$if(accountId !== undefined, (query) => query.where('account_id', '=', accountId ?? ''))
    .execute();
  const machines: ForgottenMachine[] = [];
  for (const { id: vmId } of vms) machines.push({ vmId, token: await issueToken(db, vmSubject({ vmId })) });
  return machines;
}

/**
 * Removes the machines.
 *
 * @param done What has been done already, for the message.
 * @throws InfrastructureError if some could not be removed. A comparison with the hypervisor names them then.
 */
export async function removeForgotten(
  { ports, store, closing }: Runtime,
  machines: readonly ForgottenMachine[],
  done: string,
): Promise<void> {
  const hypervisor: Hypervisor = ports.hypervisor;
  const failures: unknown[] = [];
  async function removeOne({ vmId, token }: ForgottenMachine): Promise<void> {
    try {
      await hypervisor.remove(vmId, token);
    } catch (error) {
      failures.push(error);
    }
  }
  const { maxConcurrentDeliveries: max, deliveryWaitMs: waitMs } = store.tuning;
  await forEachConcurrently(machines, removeOne, { max, waitMs, closing });
  if (failures.length === 0) return;
  throw new InfrastructureError(
    `${done}, but the hypervisor could not remove ${counted(failures.length, 'machine')}. GET /reconcile names what is left, and POST /vms/{vm_id}/release takes the mark of the service from it.`,
    { cause: failures[0] },
  );
}
