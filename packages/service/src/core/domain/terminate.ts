import * as v from 'valibot';

import { runCommand } from '../../delivery/command.ts';
import type { CommandHooks } from '../../delivery/command.ts';
import { InfrastructureError } from '../../delivery/deliver.ts';
import type { FinishableDelivery } from '../../delivery/delivery.ts';
import type { Runtime } from '../../delivery/runtime.ts';
import { finish } from '../../delivery/steps.ts';
import type { Steps } from '../../delivery/steps.ts';
import { Refusal } from '../../rules/refusal.ts';
import { lockAccount } from '../../store/account-lock.ts';
import type { Db } from '../../store/store.ts';
import { holdRenewals } from '../accounting/renewal-hold.ts';
import { settle } from '../jobs/settle.ts';
import { changeInProgress, domainSubject, endDomainChange, settleAndFindDomain } from './domain.ts';

export interface TerminationRequest {
  readonly runtime: Runtime;
  /** ASCII form. */
  readonly name: string;
  /** The account that requests the change, and must have the domain. Missing if the provider requests it. */
  readonly accountId?: string;
}

const domainDetails = v.object({ name: v.string() });

export const domainTermination: FinishableDelivery<v.InferOutput<typeof domainDetails>> = {
  name: 'terminateDomain',
  details: domainDetails,
  subject: domainSubject,
  finish: {
    call: ({ registrar }, { name }, token) => registrar.setRenewal(name, false, token),
    store: ({ db }, { name }) => endDomainChange(db, name),
  },
  describeFailure: ({ name }) => retryMessage(name),
};

/**
 * Cancels a domain (specification: "Cancellation of a domain: not shown"). The domain stays unchanged until it expires. Then anyone can
 * register it. The store records the cancellation immediately, so the domain costs nothing more. The service calls the registrar until a
 * call succeeds, and refuses other changes until then.
 */
export function terminateDomain(steps: Steps<void>, request: TerminationRequest): Promise<void> {
  return finish(steps, domainTermination, async ({ db }) => ({
    accountId: await markTerminated(db, request),
    details: { name: request.name },
  }));
}

/** Changes of domains on behalf of the provider. */
export interface DomainCommands {
  /**
   * Cancels a domain. Idempotent while the registrar has not confirmed it.
   *
   * @param name ASCII form.
   * @throws Refusal 404 if no account has the domain, 409 if another change is in progress.
   * @throws InfrastructureError if the registrar has not confirmed it yet.
   */
  terminate(name: string): Promise<void>;
}

export function domainCommands(runtime: Runtime, hooks?: CommandHooks): DomainCommands {
  return { terminate: (name) => runCommand(runtime, (steps) => terminateDomain(steps, { runtime, name }), hooks) };
}

/** @returns The account that has the domain. */
async function markTerminated(db: Db, { runtime, name, accountId }: TerminationRequest): Promise<string> {
  const now = runtime.ports.clock.now();
  if (accountId !== undefined) await assertCancellable(db, runtime, { name, accountId, now });
  const registered = await db.selectFrom('domains').select('account_id').where('name', '=', name).executeTakeFirst();
  if (registered) {
    await settle(db, runtime, { accountId: registered.account_id, now });
    // Closing a period locks the account before the domain, so this transaction does the same.
    await lockAccount(db, registered.account_id);
  }
  const row = await db
    .updateTable('domains')
    .set({ terminated: 1, state: 'changing' })
    .where('name', '=', name)
    .where('state', '=', 'registered')
    .where('expires', '>', Math.floor(now / 1000))
    .returning('account_id')
    .executeTakeFirst();
  if (row) {
    await holdRenewals(db, row.account_id, { domain: name });
    return row.account_id;
  }
  const other = await db.selectFrom('domains').select('state').where('name', '=', name).where('state', '!=', 'reserved').executeTakeFirst();
  if (!other) throw new Refusal(404, 'not_found', `No account has the domain ${name}. Check the name.`);
  if (await isUnconfirmed(db, name)) throw new InfrastructureError(retryMessage(name), { system: 'registrar' });
  throw changeInProgress(name);
}

/**
 * An account cancels only its own domain, and only once.
 *
 * @throws Refusal 404 if the account does not have the domain, 409 if it is cancelled already.
 */
async function assertCancellable(
  db: Db,
  runtime: Runtime,
  { name, accountId, now }: { readonly name: string; readonly accountId: string; readonly now: number },
): Promise<void> {
  const row = await settleAndFindDomain(db, runtime, { accountId, now, path: { domain: name } });
  if (row.state !== 'changing' && row.terminated === 1)
    throw new Refusal(409, 'wrong_state', `The domain ${name} is already cancelled. No action is needed: it will not be renewed.`);
  if (row.state === 'changing') throw changeInProgress(name);
}

async function isUnconfirmed(db: Db, name: string): Promise<boolean> {
  const reservation = await db
    .selectFrom('reservations')
    .select('id')
    .where('delivery', '=', 'terminateDomain')
    .where('subject', '=', `domain/${name}`)
    .executeTakeFirst();
  return reservation !== undefined;
}

function retryMessage(name: string): string {
  return `The domain ${name} is cancelled, but the registrar has not confirmed it yet. The service retries until it does. Send the request again to check.`;
}
