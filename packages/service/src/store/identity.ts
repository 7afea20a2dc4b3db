import { sameHash, verifierOfSecret } from '../rules/credentials.ts';
import type { Mode } from '../rules/credentials.ts';
import { StoreOpenError } from './store.ts';
import type { Store } from './store.ts';

/** What every service on a store has to have in common. */
export interface Identity {
  readonly secret: string;
  readonly mode: Mode;
}

/** Whether a service has used the store, so that its secret must exist already. */
export async function hasIdentity(store: Store): Promise<boolean> {
  return (await store.read((db) => db.selectFrom('identity').select('id').executeTakeFirst())) !== undefined;
}

/**
 * Has the store remember what its first service is, and refuses one that is another: with another
 * secret it could not read what is encrypted, nor know the codes that are out, and a sandbox would
 * fill and reset what is live.
 *
 * @throws StoreOpenError when the store was first used with another secret or mode.
 */
export async function assertIdentity(store: Store, { secret, mode }: Identity): Promise<void> {
  const mine = { id: 1, secret_verifier: verifierOfSecret(secret), mode } as const;
  const kept =
    (await store.read((db) => db.selectFrom('identity').selectAll().executeTakeFirst())) ??
    (await store.commit(async ({ db }) => {
      // Of nodes that start at once one is the first.
      await db
        .insertInto('identity')
        .values(mine)
        .onConflict((conflict) => conflict.column('id').doNothing())
        .execute();
      return db.selectFrom('identity').selectAll().executeTakeFirstOrThrow();
    }));
  if (kept.mode !== mode) {
    throw new StoreOpenError(
      `The store is that of a ${kept.mode} service, and this one is ${mode}. Set RESELLER_MODE to ${kept.mode}, or name another store.`,
    );
  }
  if (!sameHash(kept.secret_verifier, mine.secret_verifier)) {
    throw new StoreOpenError(
      'The secret of this service is not the one that the store was first used with. Set RESELLER_SECRET to that one; every node on a store has the same.',
    );
  }
}
