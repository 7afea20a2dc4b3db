import { registrationOf } from '../operations/domain/domain.ts';
import { settle } from '../operations/settle.ts';
import type { Settling } from '../operations/settle.ts';
import { Refusal } from '../refusal.ts';
import { cancel } from '../rules/domain-registration.ts';
import type { Store } from '../store/store.ts';

/**
 * Cancels a domain: it stays as it is until it expires, and is free for anyone then (specification:
 * "Cancellation of a domain: not shown"). The store is told first and then the registrar: where
 * that fails, the call is to be repeated.
 *
 * @param name ASCII form.
 * @throws Refusal 404 when no account has the domain, 409 when it is being changed.
 */
export async function terminateDomain(store: Store, parts: Pick<Settling, 'ports' | 'secret'>, name: string): Promise<void> {
  const { clock, registrar } = parts.ports;
  const now = clock.now();
  const at = Math.floor(now / 1000);
  await store.commit(async ({ db }) => {
    const registered = await db.selectFrom('domains').select('account_id').where('name', '=', name).executeTakeFirst();
    if (registered) await settle(db, { ...parts, accountId: registered.account_id, now });
    const row = await db.selectFrom('domains').selectAll().where('name', '=', name).where('state', '!=', 'reserved').executeTakeFirst();
    if (!row) throw new Refusal(404, 'not_found', `No account has the domain ${name}. Check the name.`);
    const transition = cancel(registrationOf(row), at);
    const isCancelled = 'refused' in transition && transition.refused === 'already cancelled';
    if (row.state === 'registered' && isCancelled) return;
    const cancelled = await db
      .updateTable('domains')
      .set({ terminated: 1 })
      .where('name', '=', name)
      .where('state', '=', 'registered')
      .where('expires', '>', at)
      .executeTakeFirst();
    if (cancelled.numUpdatedRows === 0n)
      throw new Refusal(409, 'wrong_state', `The domain ${name} is being changed at the moment. Try again in a minute.`);
  });
  await registrar.setRenewal(name, false);
}
