import { acceptedSecrets, keyIdOf, responseContext, seal, unseal } from '../rules/credentials.ts';
import type { Secrets } from '../rules/credentials.ts';
import type { Random } from '../rules/random.ts';
import { storeSecret } from '../store/identity.ts';
import { StoreOpenError } from '../store/store.ts';
import type { Db, Store } from '../store/store.ts';
import { passwordContext } from './dedicated/life-cycle.ts';
import { authcodeContext } from './domain/domain.ts';
import { secretContext } from './events/webhook.ts';

/** The numbers of values that were sealed with the new secret. */
export interface Resealed {
  readonly authcodes: number;
  readonly passwords: number;
  /** Secrets of webhooks. */
  readonly webhookSecrets: number;
  /** Responses that are stored for repeated requests. */
  readonly responses: number;
  /** Values in the snapshots of a sandbox. */
  readonly inSnapshots: number;
  /** One-time codes that become invalid with the previous secret. Their hashes cannot be converted. */
  readonly openCodes: number;
}

/** Each table with sealed values: the sealed column, and the context of its value in a row. */
const SEALED: Readonly<Record<string, SealedColumn>> = {
  domains: { column: 'sealed_authcode', contextOf: ({ name }) => authcodeContext(String(name)) },
  webhook_secrets: { column: 'sealed_secret', contextOf: ({ id }) => secretContext(String(id)) },
  dedicated_servers: { column: 'sealed_password', contextOf: ({ id }) => passwordContext(String(id)) },
  idempotency_keys: {
    column: 'response',
    contextOf: ({ account_id: account, key_hash: hash }) => responseContext(String(account), String(hash)),
    isForgotten: true,
  },
};

type Row = Readonly<Record<string, unknown>>;

interface SealedColumn {
  readonly column: string;
  contextOf(row: Row): string;
  /** Whether a value that no secret opens stays as it is, because it is soon forgotten. Earlier versions sealed responses with API keys. */
  readonly isForgotten?: boolean;
}

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
    await store.sharing.freeze(db, Object.keys(SEALED));
    const again = resealing(secrets, random);
    const authcodes = await resealDomains(db, again);
    const passwords = await resealServers(db, again);
    const webhookSecrets = await resealWebhooks(db, again);
    const responses = await resealResponses(db, again);
    const inSnapshots = await resealSnapshots(db, again);
    const { openCodes } = await db
      .selectFrom('otps')
      .select(({ fn }) => fn.countAll<number>().as('openCodes'))
      .where('used', '=', 0)
      .where('expires', '>', now)
      .executeTakeFirstOrThrow();
    await storeSecret(db, secrets.secret);
    return { authcodes, passwords, webhookSecrets, responses, inSnapshots, openCodes };
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

async function resealDomains(db: Db, again: Reseal): Promise<number> {
  let changed = 0;
  for (const { name, sealed_authcode: sealed } of await db.selectFrom('domains').select(['name', 'sealed_authcode']).execute()) {
    const fresh = sealed === null ? null : again(sealed, authcodeContext(name));
    if (fresh === sealed) continue;
    await db.updateTable('domains').set({ sealed_authcode: fresh }).where('name', '=', name).execute();
    changed++;
  }
  return changed;
}

async function resealServers(db: Db, again: Reseal): Promise<number> {
  let changed = 0;
  for (const { id, sealed_password: sealed } of await db.selectFrom('dedicated_servers').select(['id', 'sealed_password']).execute()) {
    const fresh = sealed === null ? null : again(sealed, passwordContext(id));
    if (fresh === sealed) continue;
    await db.updateTable('dedicated_servers').set({ sealed_password: fresh }).where('id', '=', id).execute();
    changed++;
  }
  return changed;
}

async function resealWebhooks(db: Db, again: Reseal): Promise<number> {
  let changed = 0;
  for (const { id, sealed_secret: sealed } of await db.selectFrom('webhook_secrets').select(['id', 'sealed_secret']).execute()) {
    const fresh = again(sealed, secretContext(id));
    if (fresh === sealed) continue;
    await db.updateTable('webhook_secrets').set({ sealed_secret: fresh }).where('id', '=', id).execute();
    changed++;
  }
  return changed;
}

async function resealResponses(db: Db, again: Reseal): Promise<number> {
  let changed = 0;
  const rows = await db.selectFrom('idempotency_keys').select(['account_id', 'key_hash', 'response']).execute();
  for (const { account_id: account, key_hash: hash, response: sealed } of rows) {
    const fresh = sealed === null ? null : again(sealed, responseContext(account, hash), true);
    if (fresh === sealed) continue;
    await db
      .updateTable('idempotency_keys')
      .set({ response: fresh })
      .where('account_id', '=', account)
      .where('key_hash', '=', hash)
      .execute();
    changed++;
  }
  return changed;
}

async function resealSnapshots(db: Db, again: Reseal): Promise<number> {
  let changed = 0;
  for (const [table, { column, contextOf, isForgotten }] of Object.entries(SEALED)) {
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
