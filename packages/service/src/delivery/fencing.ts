import { StaleTokenError } from '../ports/fencing.ts';
import type { Fence, FencingToken, Subject } from '../ports/fencing.ts';
import { prepared } from '../store/prepared.ts';
import type { Db, Store } from '../store/store.ts';

/**
 * Issues the next token of a subject. Call it in the transaction that reserves the subject, so that tokens follow the order of
 * reservations.
 */
export async function issueToken(db: Db, subject: Subject): Promise<FencingToken> {
  const [issued] = await takeToken(db, { subject });
  if (!issued) throw new Error(`No fencing token was issued for ${subject}.`);
  return issued.token;
}

const takeToken = prepared<{ subject: string }, { token: FencingToken }>((db, parameter) =>
  db
    .insertInto('fencing_tokens')
    .values({ subject: parameter('subject'), token: 1 })
    .onConflict((conflict) => conflict.column('subject').doUpdateSet(({ eb }) => ({ token: eb('fencing_tokens.token', '+', 1) })))
    .returning('token'),
);

/**
 * A fence for adapters of systems that cannot compare tokens, such as registries: it rejects a call if the service has issued a newer
 * token for its subject. All instances of a store share it.
 */
export function storeFence(store: Store): Fence {
  return {
    async admit(subject, token) {
      const issued = await store.read((db) =>
        db.selectFrom('fencing_tokens').select('token').where('subject', '=', subject).executeTakeFirst(),
      );
      if (issued && token < issued.token) throw new StaleTokenError(subject, token, issued.token);
    },
  };
}
