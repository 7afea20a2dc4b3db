import { readSecondOperator } from '../../store/settings.ts';
import type { Db } from '../../store/store.ts';
import type { OperatorCall, OperatorId } from '../operation.ts';
import { OperatorProblem } from '../problem.ts';
import { recordChange } from './record-change.ts';

/** How long the second operator has. */
const CONFIRMATION_TTL_MS = 15 * 60 * 1000;

/** A younger token does not confirm. Otherwise an operator could create the second one just before the request. */
const CONFIRMING_TOKEN_AGE_MS = 24 * 60 * 60 * 1000;

/**
 * The operations that a provider may require a second operator for. The last four protect the rule itself. A token can be revoked by one
 * operator, because that may be urgent.
 */
const CONFIRMABLE: ReadonlySet<OperatorId> = new Set<OperatorId>([
  'eraseAccount',
  'restoreSnapshot',
  'setSecondOperator',
  'setAuditRetention',
  'createOperatorToken',
  'rotateOperatorToken',
]);

const WAITING =
  'A second operator must confirm this: nothing was changed yet. Within 15 minutes, let another operator send the same request with another token.';

/**
 * Asserts that another operator has sent the same request shortly before, if the settings require it.
 *
 * @throws OperatorProblem 409 if this is the first of the two requests, or if the two tokens may belong to one person. It is recorded in the
 * audit.
 */
export async function assertConfirmed<Id extends OperatorId>(call: OperatorCall<Id>): Promise<void> {
  const { operationId: operation, path, body, caller, sandbox, runtime } = call;
  if (!CONFIRMABLE.has(operation)) return;
  // The second request must be about the same resource, with the same body.
  const target = JSON.stringify([path, body ?? null]);
  const now = sandbox.clock.base.now();
  const refusal = await runtime.store.commit(async ({ db }) => {
    if (!(await readSecondOperator(db))) return undefined;
    await runtime.store.sharing.lock(db, 'access');
    await db
      .deleteFrom('confirmations')
      .where('requested', '<=', now - CONFIRMATION_TTL_MS)
      .execute();
    const first = await db
      .selectFrom('confirmations')
      .selectAll()
      .where('operation', '=', operation)
      .where('target', '=', target)
      .executeTakeFirst();
    if (first && first.actor !== caller.id) {
      const reason = await whyNotSecond(db, [first.actor, caller.id], now);
      // The first request still waits for another operator.
      if (reason !== undefined) return reason;
      await db.deleteFrom('confirmations').where('operation', '=', operation).where('target', '=', target).execute();
      return undefined;
    }
    await db
      .insertInto('confirmations')
      .values({ operation, target, actor: caller.id, requested: now })
      .onConflict((conflict) => conflict.columns(['operation', 'target']).doUpdateSet({ requested: now }))
      .execute();
    await recordChange(db, call, { before: null, after: { waits_for: 'a second operator' } });
    return WAITING;
  });
  if (refusal !== undefined) throw new OperatorProblem('confirmation-required', refusal);
}

/** Why two tokens do not prove that they belong to two persons. Undefined if they do. */
async function whyNotSecond(db: Db, tokens: readonly [string, string], now: number): Promise<string | undefined> {
  const [first, second] = [await lineageOf(db, tokens[0]), await lineageOf(db, tokens[1])];
  if (first.ancestors.has(tokens[1]) || second.ancestors.has(tokens[0]))
    return `One of the two tokens was created with the other, so they may belong to one person. ${WAITING}`;
  if (Math.max(first.created, second.created) > now - CONFIRMING_TOKEN_AGE_MS)
    return `One of the two tokens is younger than a day, so it does not confirm yet. ${WAITING}`;
  return undefined;
}

interface Lineage {
  /** Milliseconds. 0 for the token in the configuration. */
  readonly created: number;
  /** The tokens with which it was created, directly or through others. */
  readonly ancestors: ReadonlySet<string>;
}

async function lineageOf(db: Db, id: string): Promise<Lineage> {
  const token = await findToken(db, id);
  const ancestors = new Set<string>();
  for (let next = token?.created_by ?? null; next !== null && !ancestors.has(next);) {
    ancestors.add(next);
    next = (await findToken(db, next))?.created_by ?? null;
  }
  return { created: token?.created ?? 0, ancestors };
}

/** @returns Undefined for the token in the configuration. */
function findToken(db: Db, id: string): Promise<{ readonly created: number; readonly created_by: string | null } | undefined> {
  return db.selectFrom('operator_tokens').select(['created', 'created_by']).where('id', '=', id).executeTakeFirst();
}
