import { readOperations } from '@reseller/contract';
import type { OperatorChange } from '@reseller/operator-client';

import { toInstant } from '../../rules/instants.ts';
import type { Db } from '../../store/store.ts';
import { operatorDocument } from '../document.ts';

/** Operations that only read, of which some leave a record, too. */
const READS: ReadonlySet<string> = new Set(readOperations(operatorDocument).flatMap(({ id, method }) => (method === 'GET' ? [id] : [])));

/** The number of the newest record, or 0. Records are numbered without a gap in the order of commits. */
export async function newestChange(db: Db): Promise<number> {
  const chain = await db.selectFrom('audit_chain').select('seq').executeTakeFirst();
  return chain?.seq ?? 0;
}

/** The changes whose records have a higher number, and the number of the last record that was read. */
export async function changesAfter(
  db: Db,
  { seq, limit }: { readonly seq: number; readonly limit: number },
): Promise<{ readonly changes: readonly OperatorChange[]; readonly seq: number }> {
  const rows = await db
    .selectFrom('audit_records')
    .select(['seq', 'time', 'operation', 'target'])
    .where('seq', '>', seq)
    .orderBy('seq')
    .limit(limit)
    .execute();
  const changes = rows.filter(({ operation }) => !READS.has(operation));
  return {
    changes: changes.map(({ time, operation, target }) => ({ time: toInstant(time), operation, target })),
    seq: rows.at(-1)?.seq ?? seq,
  };
}
