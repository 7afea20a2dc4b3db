/**
 * The chain of audit records. Each record has a number and a hash that includes the hash of the record before it, so a record that is
 * changed, removed or put in between breaks the chain. Who can write the database can compute a new chain: compare its end with one that is
 * kept elsewhere, such as in the exported file.
 */
import type { Selectable } from 'kysely';

import { ERASED_STATES } from '../../core/account/erase.ts';
import type { ErasedRecords } from '../../core/account/erase.ts';
import { sha256 } from '../../rules/credentials.ts';
import type { Random } from '../../rules/random.ts';
import type { Db, Store } from '../../store/store.ts';
import type { AuditRecordsTable } from '../../store/tables/access.ts';

/** The columns of a record that the chain covers. */
export type ChainedContent = Pick<
  Selectable<AuditRecordsTable>,
  'id' | 'time' | 'actor' | 'actor_name' | 'address' | 'operation' | 'target' | 'state_before' | 'state_after' | 'request_id'
>;

/** Number and hash of a record. */
export interface Link {
  readonly seq: number;
  readonly hash: string;
}

/** The columns that link a record to the one before. */
interface Chained extends Link {
  /** Random. An erasure removes it with the content, so that nothing can be guessed from the hash. */
  readonly salt: string;
  readonly content_hash: string;
}

/** Appends a record to the chain, and locks the end of the chain until the transaction ends. */
export async function appendToChain(db: Db, content: ChainedContent, random: Random): Promise<void> {
  const before = await db
    .insertInto('audit_chain')
    .values({ id: 1, seq: 1, hash: '', deleted_seq: 0, deleted_hash: '' })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(({ eb, ref }) => ({ seq: eb(ref('audit_chain.seq'), '+', 1) })))
    .returning(['seq', 'hash'])
    .executeTakeFirstOrThrow();
  const salt = Buffer.from(random.bytes(16)).toString('hex');
  const content_hash = hashOfContent(content, salt);
  const hash = hashOf(before.hash, { ...content, seq: before.seq, content_hash });
  await db.updateTable('audit_chain').set({ hash }).execute();
  await db
    .insertInto('audit_records')
    .values({ ...content, seq: before.seq, salt, content_hash, hash })
    .execute();
}

/** The contents that an erasure may replace. */
function hashOfContent({ target, state_before, state_after }: ChainedContent, salt: string): string {
  return sha256(JSON.stringify([salt, target, state_before, state_after]));
}

function hashOf(previous: string, record: ChainedContent & { readonly seq: number; readonly content_hash: string }): string {
  const { seq, id, time, actor, actor_name, address, operation, request_id, content_hash } = record;
  return sha256(JSON.stringify([previous, seq, id, time, actor, actor_name, address, operation, request_id, content_hash]));
}

/** The operation of the record of a deletion by the retention. */
export const RETENTION = 'auditRetention';

/** The result of a verification. */
export interface Verification {
  /** Records whose hashes are right. */
  readonly verified: number;
  /** Those of them whose content was erased with the personal data of an account. */
  readonly erased: number;
  readonly end: Link;
  /** Where the chain is broken, and how. */
  readonly broken: { readonly seq: number; readonly why: string } | undefined;
}

/** What records of the chain say about other records. */
interface Statements {
  /** Targets of the erased records that no erasure has named yet, by number. */
  readonly unnamed: Map<number, string | null>;
  /** The newest record that the retention has deleted. */
  deleted: Link;
}

/**
 * Verifies the chain from its oldest record to its end.
 *
 * @param expected A link that was noted earlier.
 */
export async function verifyAuditChain(store: Store, expected?: Link): Promise<Verification> {
  const { chain, unnumbered } = await store.read(async (db) => ({
    chain: (await db.selectFrom('audit_chain').selectAll().executeTakeFirst()) ?? { seq: 0, hash: '', deleted_seq: 0, deleted_hash: '' },
    unnumbered: await db.selectFrom('audit_records').select('id').where('seq', 'is', null).limit(1).executeTakeFirst(),
  }));
  const statements: Statements = { unnamed: new Map(), deleted: { seq: 0, hash: '' } };
  const deleted: Link = { seq: chain.deleted_seq, hash: chain.deleted_hash };
  let last = deleted;
  let [verified, erased] = [0, 0];
  function result(broken?: Verification['broken']): Verification {
    return { verified, erased, end: last, broken };
  }
  if (expected && expected.seq <= last.seq && expected.seq !== 0 && !isLink(expected, last))
    return result({ seq: expected.seq, why: 'the retention has deleted it, or it was removed' });
  while (last.seq < chain.seq) {
    const rows = await recordsAfter(store, last.seq, store.tuning.auditPage);
    for (const row of rows.filter(({ seq }) => seq <= chain.seq)) {
      const why = mistakeOf(row, last);
      if (why !== undefined) return result({ seq: last.seq + 1, why });
      note(statements, row);
      verified++;
      if (isErased(row)) erased++;
      last = row;
      if (expected?.seq === row.seq && !isLink(expected, row))
        return result({ seq: row.seq, why: 'its hash differs from the one that was noted, so the chain was computed again' });
    }
    if (rows.length === 0) return result({ seq: last.seq + 1, why: 'it is missing, with all records up to the end' });
  }
  if (last.hash !== chain.hash) return result({ seq: last.seq, why: 'it is not the end of the chain' });
  if (expected && expected.seq > chain.seq)
    return result({ seq: chain.seq + 1, why: 'it is missing, with all records up to the noted one' });
  if (!isLink(statements.deleted, deleted))
    return result({ seq: deleted.seq, why: 'it is missing, with all records before it, and the retention did not delete them' });
  const [seq] = statements.unnamed.keys();
  if (seq !== undefined) return result({ seq, why: 'its content is erased, and the erasure of no account names it' });
  if (unnumbered) return result({ seq: chain.seq + 1, why: `the record ${unnumbered.id} has no number, so the service did not write it` });
  return result();
}

function isErased({ salt }: ChainedRecord): boolean {
  return salt === ERASED_STATES.salt;
}

/** Keeps what a record says about others. */
function note(statements: Statements, row: ChainedRecord): void {
  if (isErased(row)) {
    statements.unnamed.set(row.seq, row.target);
    return;
  }
  const { erased_records, deleted }: { erased_records?: ErasedRecords; deleted?: Link } = Object(JSON.parse(row.state_after));
  if (row.operation === RETENTION && deleted) statements.deleted = deleted;
  if (row.operation !== 'eraseAccount') return;
  for (const [seq, target] of Object.entries(erased_records ?? {}))
    if (statements.unnamed.get(Number(seq)) === target) statements.unnamed.delete(Number(seq));
}

function isLink(one: Link, other: Link): boolean {
  return one.seq === other.seq && one.hash === other.hash;
}

function mistakeOf(row: ChainedRecord, previous: Link): string | undefined {
  if (row.seq !== previous.seq + 1) return 'it is missing';
  // The content of an erased record is gone, but its hash is still part of the chain.
  const isUnchanged = isErased(row)
    ? row.state_before === ERASED_STATES.state_before && row.state_after === ERASED_STATES.state_after
    : hashOfContent(row, row.salt) === row.content_hash;
  if (!isUnchanged) return 'its content was changed';
  return hashOf(previous.hash, row) === row.hash ? undefined : 'it was changed, or its predecessor was replaced';
}

/** A record of the chain. */
export type ChainedRecord = ChainedContent & Chained;

/** Records of the chain after a number, in its order. */
export async function recordsAfter(store: Store, seq: number, limit: number): Promise<ChainedRecord[]> {
  const rows = await store.read((db) =>
    db.selectFrom('audit_records').selectAll().where('seq', '>', seq).orderBy('seq').limit(limit).execute(),
  );
  return rows.map((row) => ({
    ...row,
    seq: row.seq ?? 0,
    salt: row.salt ?? '',
    content_hash: row.content_hash ?? '',
    hash: row.hash ?? '',
  }));
}
