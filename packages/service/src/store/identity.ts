import { acceptedSecrets, sameHash, verifierOfSecret } from '../rules/credentials.ts';
import type { Secrets } from '../rules/credentials.ts';
import type { Mode } from '../rules/mode.ts';
import type { Random } from '../rules/random.ts';
import { StoreOpenError } from './store.ts';
import type { Db, Store } from './store.ts';

const SERVICE_ID_BYTES = 8;

/** The settings that every instance on a store must share. */
export interface Identity extends Secrets {
  readonly mode: Mode;
}

/** Whether a service has used the store before, so that its secret must exist already. */
export async function hasIdentity(store: Store): Promise<boolean> {
  return (await store.read((db) => db.selectFrom('identity').select('id').executeTakeFirst())) !== undefined;
}

/**
 * Stores the identity of the first service on a store, and checks every later one against it. With another secret a service could not
 * decrypt passwords or verify one-time codes. In sandbox mode it would fill and reset a live store.
 *
 * @throws StoreOpenError if the store was first used with another secret or mode.
 */
export async function assertIdentity(store: Store, { secret, previousSecret, mode }: Identity): Promise<void> {
  const mine = { id: 1, secret_verifier: verifierOfSecret(secret), mode, service_id: null } as const;
  const kept =
    (await store.read((db) => db.selectFrom('identity').selectAll().executeTakeFirst())) ??
    (await store.commit(async ({ db }) => {
      // Another instance may have started at the same time.
      await db
        .insertInto('identity')
        .values(mine)
        .onConflict((conflict) => conflict.column('id').doNothing())
        .execute();
      return db.selectFrom('identity').selectAll().executeTakeFirstOrThrow();
    }));
  if (kept.mode !== mode) {
    throw new StoreOpenError(
      `The store belongs to a ${kept.mode} service, and this one is ${mode}. Set RESELLER_MODE to ${kept.mode}, or name another store.`,
    );
  }
  const isAccepted = acceptedSecrets({ secret, previousSecret }).some((one) => sameHash(kept.secret_verifier, verifierOfSecret(one)));
  if (!isAccepted) {
    throw new StoreOpenError(
      'The secret of this service is not the one that the store was first used with. Set RESELLER_SECRET to that one. Every instance on a store has the same. To rotate it, set RESELLER_SECRET_PREVIOUS to that one.',
    );
  }
}

/**
 * The identifier of the service, with which adapters mark what they create. It stays the same after a rotation of the secret, and a copy of
 * the store has it too.
 *
 * @throws StoreOpenError as `assertIdentity` does.
 */
export async function serviceIdOf(store: Store, identity: Identity, random: Random): Promise<string> {
  await assertIdentity(store, identity);
  return store.commit(async ({ db }) => {
    const serviceId = Buffer.from(random.bytes(SERVICE_ID_BYTES)).toString('hex');
    await db.updateTable('identity').set({ service_id: serviceId }).where('service_id', 'is', null).execute();
    const kept = await db.selectFrom('identity').select('service_id').executeTakeFirstOrThrow();
    return kept.service_id ?? serviceId;
  });
}

/** Makes a secret the one that every service on the store must have. */
export async function storeSecret(db: Db, secret: string): Promise<void> {
  await db
    .updateTable('identity')
    .set({ secret_verifier: verifierOfSecret(secret) })
    .execute();
}
