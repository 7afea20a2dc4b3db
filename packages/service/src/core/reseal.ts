import { sql } from 'kysely';

import { acceptedSecrets, keyIdOf, responseContext, seal, unseal } from '../rules/credentials.ts';
import type { Secrets } from '../rules/credentials.ts';
import type { Random } from '../rules/random.ts';
import { storeSecret } from '../store/identity.ts';
import type { Schema } from '../store/schema.ts';
import { StoreOpenError } from '../store/store.ts';
import type { Db, Store } from '../store/store.ts';
import { passwordContext } from './dedicated/life-cycle.ts';
import { authcodeContext } from './domain/domain.ts';
import { secretContext } from './events/webhook.ts';
import { userDataContext } from './vm/user-data.ts';

/** Where values are sealed. */
interface SealedColumn {
  readonly table: keyof Schema;
  /** The columns of its primary key. */
  readonly key: readonly string[];
  readonly column: string;
  /** The context of the value in a row, of which the columns of the key are known. */
  contextOf(row: Row): string;
  /** Whether a value that no secret opens stays as it is, because it is soon forgotten. Earlier versions sealed responses with API keys. */
  readonly isForgotten?: boolean;
}

/** All sealed values, by the name of their number in the result. */
export const SEALED = {
  authcodes: { table: 'domains', key: ['name'], column: 'sealed_authcode', contextOf: ({ name }) => authcodeContext(String(name)) },
  passwords: { table: 'dedicated_servers', key: ['id'], column: 'sealed_password', contextOf: ({ id }) => passwordContext(String(id)) },
  userData: {
    table: 'vm_user_data',
    key: ['vm_id', 'is_pending'],
    column: 'sealed_text',
    contextOf: ({ vm_id: vmId }) => userDataContext(Number(vmId)),
  },
  webhookSecrets: {
    table: 'webhook_secrets',
    key: ['id'],
    column: 'sealed_secret',
    contextOf: ({ id }) => secretContext(String(id)),
  },
  /** Responses that are stored for repeated requests. */
  responses: {
    table: 'idempotency_keys',
    key: ['account_id', 'key_hash'],
    column: 'response',
    contextOf: ({ account_id: account, key_hash: hash }) => responseContext(String(account), String(hash)),
    isForgotten: true,
  },
} satisfies Record<string, SealedColumn>;

/** The numbers of values that were sealed with the new secret. */
export interface Resealed extends Readonly<Record<keyof typeof SEALED, number>> {
  /** Values in the snapshots of a sandbox. */
  readonly inSnapshots: number;
  /** One-time codes that become invalid with the previous secret. Their hashes cannot be converted. */
  readonly openCodes: number;
}

type Row = Readonly<Record<string, unknown>>;

type Reseal = (sealed: string, context: string, isForgotten?: boolean) => string;

/**
 * Seals every stored value with the new secret, in one transaction, and makes it the secret of the store. Afterwards the previous one is
 * not needed. It can run repeatedly, and while services that accept both secrets are running.
 *
 * @param now Milliseconds.
 * @throws StoreOpenError if a value is sealed with neither secret. Nothing is changed then.
 */
export function reseal(store: Store, secrets: Secrets, { random, now }: { random: Random; now: number }): Promise<Resealed> {
  return store.commit(async ({ db }) => {
    const tables = Object.values<SealedColumn>(SEALED);
    await store.sharing.freeze(
      db,
      tables.map(({ table }) => table),
    );
    const again = resealing(secrets, random);
    const authcodes = await resealTable(db, SEALED.authcodes, again);
    const passwords = await resealTable(db, SEALED.passwords, again);
    const userData = await resealTable(db, SEALED.userData, again);
    const webhookSecrets = await resealTable(db, SEALED.webhookSecrets, again);
    const responses = await resealTable(db, SEALED.responses, again);
    const inSnapshots = await resealSnapshots(db, again);
    const { openCodes } = await db
      .selectFrom('otps')
      .select(({ fn }) => fn.countAll<number>().as('openCodes'))
      .where('used', '=', 0)
      .where('expires', '>', now)
      .executeTakeFirstOrThrow();
    await storeSecret(db, secrets.secret);
    return { authcodes, passwords, userData, webhookSecrets, responses, inSnapshots, openCodes };
  });
}

function resealing(secrets: Secrets, random: Random): Reseal {
  const current = keyIdOf(secrets.secret);
  return (sealed, context, isForgotten = false) => {
    if (sealed.startsWith(`${current}.`)) return sealed;
    const text = unseal(sealed, secrets, context);
    if (text !== undefined) return seal(text, secrets.secret, context, random);
    if (isForgotten) return sealed;
    const accepted = acceptedSecrets(secrets).length === 1 ? 'this secret' : 'these secrets';
    throw new StoreOpenError(
      `The value of ${context} is not sealed with ${accepted}. Nothing was changed. Set RESELLER_SECRET_PREVIOUS to the secret that the service used so far.`,
    );
  };
}

async function resealTable(db: Db, { table, key, column, contextOf, isForgotten }: SealedColumn, again: Reseal): Promise<number> {
  const columns = sql.join([...key, column].map((name) => sql.ref(name)));
  const { rows } = await sql<Row>`select ${columns} from ${sql.table(table)} where ${sql.ref(column)} is not null`.execute(db);
  let changed = 0;
  for (const row of rows) {
    const sealed = String(row[column]);
    const fresh = again(sealed, contextOf(row), isForgotten);
    if (fresh === sealed) continue;
    const isRow = sql.join(
      key.map((name) => sql`${sql.ref(name)} = ${row[name]}`),
      sql` and `,
    );
    await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${fresh} where ${isRow}`.execute(db);
    changed++;
  }
  return changed;
}

async function resealSnapshots(db: Db, again: Reseal): Promise<number> {
  let changed = 0;
  for (const { table, column, contextOf, isForgotten } of Object.values<SealedColumn>(SEALED)) {
    const pieces = await db.selectFrom('snapshot_rows').selectAll().where('table_name', '=', table).execute();
    for (const { snapshot, position, rows } of pieces) {
      const parsed: Record<string, unknown>[] = JSON.parse(rows);
      for (const row of parsed) {
        const sealed = row[column];
        if (typeof sealed !== 'string') continue;
        const fresh = again(sealed, contextOf(row), isForgotten);
        if (fresh !== sealed) changed++;
        row[column] = fresh;
      }
      await db
        .updateTable('snapshot_rows')
        .set({ rows: JSON.stringify(parsed) })
        .where('snapshot', '=', snapshot)
        .where('position', '=', position)
        .execute();
    }
  }
  return changed;
}
