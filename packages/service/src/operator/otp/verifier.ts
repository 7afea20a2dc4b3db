import type { Verifier } from '@reseller/operator-client';
import type { Selectable } from 'kysely';
import { v7 as uuidv7 } from 'uuid';

import { newVerifierToken, sha256 } from '../../rules/credentials.ts';
import { toInstant, toInstantOrNull } from '../../rules/instants.ts';
import type { Db } from '../../store/store.ts';
import type { VerifiersTable } from '../../store/tables/access.ts';
import type { ReadOperation, StoreOperation } from '../operation.ts';
import { readPage } from '../paging.ts';
import type { Order } from '../paging.ts';
import { requireFound } from '../problem.ts';

const order: Order = { columns: { created: 'integer', id: 'text' }, direction: 'asc' };

/** GET /verifiers */
export const listVerifiers: ReadOperation<'listVerifiers'> = {
  kind: 'read',
  async run(db, { query }) {
    const verifiers = db.selectFrom('verifiers').selectAll();
    const { rows, next_cursor } = await readPage(verifiers, order, query);
    return { items: rows.map(toVerifier), next_cursor };
  },
};

/** POST /verifiers: only this response contains the token. */
export const registerVerifier: StoreOperation<'registerVerifier'> = {
  kind: 'store',
  async run({ db }, { body, now, runtime: { ports } }) {
    const token = newVerifierToken(ports.random);
    const verifier = await db
      .insertInto('verifiers')
      .values({
        id: uuidv7({ msecs: now, random: ports.random.bytes(16) }),
        name: body.name,
        hash: sha256(token),
        created: now,
        revoked: null,
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    return { ...toVerifier(verifier), token };
  },
};

/** POST /verifiers/{verifier_id}/revoke */
export const revokeVerifier: StoreOperation<'revokeVerifier'> = {
  kind: 'store',
  lock: 'access',
  before: async (db, { path }) => toVerifier(await verifierOf(db, path.verifier_id)),
  async run({ db }, { path, now }) {
    const { verifier_id: id } = path;
    await db.updateTable('verifiers').set({ revoked: now }).where('id', '=', id).where('revoked', 'is', null).execute();
    return toVerifier(await verifierOf(db, id));
  },
};

async function verifierOf(db: Db, id: string): Promise<Selectable<VerifiersTable>> {
  const verifier = await db.selectFrom('verifiers').selectAll().where('id', '=', id).executeTakeFirst();
  return requireFound(verifier, 'third party of this identifier');
}

function toVerifier({ id, name, created, revoked }: Selectable<VerifiersTable>): Verifier {
  return { id, name, created: toInstant(created), revoked: toInstantOrNull(revoked) };
}
