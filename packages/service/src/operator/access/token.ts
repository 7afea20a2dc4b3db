import type { BrokenRule, IssuedOperatorToken, OperatorToken } from '@reseller/operator-client';
import type { Selectable } from 'kysely';
import { v7 as uuidv7 } from 'uuid';

import { DEFAULTS } from '../../generated/operator/facts.gen.ts';
import { newOperatorToken, sha256 } from '../../rules/credentials.ts';
import { toInstant, toInstantOrNull } from '../../rules/instants.ts';
import type { Random } from '../../rules/random.ts';
import type { Db } from '../../store/store.ts';
import type { OperatorTokensTable } from '../../store/tables/access.ts';
import { isScope } from '../operation.ts';
import type { OperatorCaller, ReadOperation, Scope, StoreOperation } from '../operation.ts';
import { readPage } from '../paging.ts';
import type { Order } from '../paging.ts';
import { assertNoBrokenRules, OperatorProblem, requireFound } from '../problem.ts';

type Row = Selectable<OperatorTokensTable>;

const order: Order = { columns: { created: 'integer', id: 'text' }, direction: 'asc' };

/** GET /operator-tokens */
export const listOperatorTokens: ReadOperation<'listOperatorTokens'> = {
  kind: 'read',
  async run(db, { query }) {
    const tokens = db.selectFrom('operator_tokens').selectAll();
    const { rows, next_cursor } = await readPage(tokens, order, query);
    return { items: rows.map(toOperatorToken), next_cursor };
  },
};

/** POST /operator-tokens: only this response contains the token. */
export const createOperatorToken: StoreOperation<'createOperatorToken'> = {
  kind: 'store',
  run({ db }, { body, caller, sandbox, runtime: { ports } }) {
    const now = sandbox.clock.base.now();
    const validUntil = expiryOf(body.valid_until, now);
    return addToken(db, ports.random, { name: body.name, scopes: body.scopes, validUntil, now, createdBy: caller.id });
  },
};

/** POST /operator-tokens/{operator_token_id}/rotate: the old token stays valid for the overlap. */
export const rotateOperatorToken: StoreOperation<'rotateOperatorToken'> = {
  kind: 'store',
  lock: 'access',
  before: async (db, { path }) => toOperatorToken(await tokenOf(db, path.operator_token_id)),
  async run({ db }, { path, body, caller, sandbox, runtime: { ports } }) {
    const now = sandbox.clock.base.now();
    const validUntil = expiryOf(body.valid_until, now);
    const end = now + { ...DEFAULTS.RotateOperatorTokenRequest, ...body }.overlap_seconds * 1000;
    const old = await tokenOf(db, path.operator_token_id);
    const replaced = await db
      .updateTable('operator_tokens')
      .set({ valid_until: end })
      .where('id', '=', old.id)
      .where('revoked', 'is', null)
      .where(({ eb, or }) => or([eb('valid_until', 'is', null), eb('valid_until', '>', end)]))
      .returningAll()
      .executeTakeFirst();
    if (!replaced)
      throw new OperatorProblem(
        'wrong-state',
        `The token ${old.id} is revoked, or expires before the end of the overlap. Create a new token, or choose a shorter overlap.`,
      );
    // Who replaces the own token stays the same person. Who replaces another one receives it.
    const createdBy = caller.id === old.id ? old.created_by : caller.id;
    const issued = await addToken(db, ports.random, { name: old.name, scopes: scopesOf(old), validUntil, now, createdBy });
    return { issued, replaced: toOperatorToken(replaced) };
  },
};

/** POST /operator-tokens/{operator_token_id}/revoke */
export const revokeOperatorToken: StoreOperation<'revokeOperatorToken'> = {
  kind: 'store',
  lock: 'access',
  before: async (db, { path }) => toOperatorToken(await tokenOf(db, path.operator_token_id)),
  async run({ db }, { path, sandbox }) {
    const { operator_token_id: id } = path;
    const revoked = sandbox.clock.base.now();
    await db.updateTable('operator_tokens').set({ revoked }).where('id', '=', id).where('revoked', 'is', null).execute();
    return toOperatorToken(await tokenOf(db, id));
  },
};

/**
 * The holder of a token that is neither revoked nor expired.
 *
 * @param now Milliseconds by the clock of the machine.
 */
export async function findTokenHolder(db: Db, hash: string, now: number): Promise<OperatorCaller | undefined> {
  return findValidToken(db, { column: 'hash', value: hash }, now);
}

/** The holder of the token with this identifier, like `findTokenHolder`. */
export async function findTokenHolderById(db: Db, id: string, now: number): Promise<OperatorCaller | undefined> {
  return findValidToken(db, { column: 'id', value: id }, now);
}

async function findValidToken(
  db: Db,
  { column, value }: { readonly column: 'hash' | 'id'; readonly value: string },
  now: number,
): Promise<OperatorCaller | undefined> {
  const row = await db
    .selectFrom('operator_tokens')
    .selectAll()
    .where(column, '=', value)
    .where('revoked', 'is', null)
    .where(({ eb, or }) => or([eb('valid_until', 'is', null), eb('valid_until', '>', now)]))
    .executeTakeFirst();
  return row && { id: row.id, name: row.name, scopes: scopesOf(row) };
}

interface NewToken {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly validUntil: number | null;
  readonly now: number;
  /** The token with which it is created. */
  readonly createdBy: string | null;
}

async function addToken(db: Db, random: Random, { name, scopes, validUntil, now, createdBy }: NewToken): Promise<IssuedOperatorToken> {
  const token = newOperatorToken(random);
  const row = await db
    .insertInto('operator_tokens')
    .values({
      id: uuidv7({ msecs: now, random: random.bytes(16) }),
      name,
      hash: sha256(token),
      scopes: JSON.stringify(scopes),
      created: now,
      valid_until: validUntil,
      revoked: null,
      created_by: createdBy,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  return { ...toOperatorToken(row), token };
}

/** @throws OperatorProblem 422 if the instant is not in the future. */
function expiryOf(instant: string | undefined, now: number): number | null {
  if (instant === undefined) return null;
  const time = Date.parse(instant);
  const broken: BrokenRule[] =
    time > now ? [] : [{ pointer: '#/valid_until', detail: `must be after the time of the machine, ${toInstant(now)}` }];
  assertNoBrokenRules(broken);
  return time;
}

async function tokenOf(db: Db, id: string): Promise<Row> {
  const row = await db.selectFrom('operator_tokens').selectAll().where('id', '=', id).executeTakeFirst();
  return requireFound(row, 'operator token of this identifier');
}

function scopesOf({ scopes }: Pick<Row, 'scopes'>): Scope[] {
  const stored: unknown = JSON.parse(scopes);
  return Array.isArray(stored) ? stored.filter(isScope) : [];
}

function toOperatorToken(row: Row): OperatorToken {
  const { id, name, created, valid_until, revoked } = row;
  return {
    id,
    name,
    scopes: scopesOf(row),
    created: toInstant(created),
    valid_until: toInstantOrNull(valid_until),
    revoked: toInstantOrNull(revoked),
  };
}
