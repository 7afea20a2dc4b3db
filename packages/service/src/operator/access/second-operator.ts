import { readSecondOperator } from '../../store/settings.ts';
import type { OperatorCall, OperatorId } from '../operation.ts';
import { OperatorProblem } from '../problem.ts';
import { recordChange } from './record-change.ts';

/** How long the second operator has. */
const CONFIRMATION_TTL_MS = 15 * 60 * 1000;

/** The operations that a provider may require a second operator for. The setting protects itself. */
const CONFIRMABLE: ReadonlySet<OperatorId> = new Set<OperatorId>(['eraseAccount', 'restoreSnapshot', 'setSecondOperator']);

/**
 * Asserts that another operator has sent the same request shortly before, if the settings require it.
 *
 * @throws OperatorProblem 409 if this is the first of the two requests. It is recorded in the audit.
 */
export async function assertConfirmed<Id extends OperatorId>(call: OperatorCall<Id>): Promise<void> {
  const { operationId: operation, path, body, caller, sandbox, runtime } = call;
  if (!CONFIRMABLE.has(operation)) return;
  // The second request must be about the same resource, with the same body.
  const target = JSON.stringify([path, body ?? null]);
  const now = sandbox.clock.base.now();
  const isConfirmed = await runtime.store.commit(async ({ db }) => {
    if (!(await readSecondOperator(db))) return true;
    await runtime.store.sharing.lock(db, 'access');
    const first = await db
      .selectFrom('confirmations')
      .selectAll()
      .where('operation', '=', operation)
      .where('target', '=', target)
      .where('requested', '>', now - CONFIRMATION_TTL_MS)
      .executeTakeFirst();
    await db.deleteFrom('confirmations').where('operation', '=', operation).where('target', '=', target).execute();
    if (first && first.actor !== caller.id) return true;
    await db
      .deleteFrom('confirmations')
      .where('requested', '<=', now - CONFIRMATION_TTL_MS)
      .execute();
    await db.insertInto('confirmations').values({ operation, target, actor: caller.id, requested: now }).execute();
    await recordChange(db, call, { before: null, after: { waits_for: 'a second operator' } });
    return false;
  });
  if (isConfirmed) return;
  throw new OperatorProblem(
    'confirmation-required',
    'A second operator must confirm this: nothing was changed yet. Within 15 minutes, let another operator send the same request with another token.',
  );
}
