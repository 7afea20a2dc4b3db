import type { BrokenRule, CreateFaultRequest, Fault } from '@reseller/operator-client';
import type { Selectable } from 'kysely';
import { v7 as uuidv7 } from 'uuid';

import { OPERATION_IDS } from '../../generated/facts.gen.ts';
import { DEFAULTS } from '../../generated/operator/facts.gen.ts';
import { toInstant } from '../../rules/instants.ts';
import type { Db } from '../../store/store.ts';
import type { FaultsTable } from '../../store/tables/service.ts';
import type { ReadOperation, ServiceOperation } from '../operation.ts';
import { readPage } from '../paging.ts';
import type { Order } from '../paging.ts';
import { assertNoBrokenRules, requireFound } from '../problem.ts';

const order: Order = { columns: { created: 'integer', id: 'text' }, direction: 'asc' };

/** GET /sandbox/faults */
export const listFaults: ReadOperation<'listFaults'> = {
  kind: 'read',
  async run(db, { query }) {
    const faults = db.selectFrom('faults').selectAll().where('remaining', '>', 0);
    const { rows, next_cursor } = await readPage(faults, order, query);
    return { items: rows.map(toFault), next_cursor };
  },
};

/** POST /sandbox/faults */
export const createFault: ServiceOperation<'createFault'> = {
  kind: 'service',
  async run({ body, now, sandbox, runtime: { store, ports } }, record) {
    const fault = await store.commit(async ({ db }) => {
      assertNoBrokenRules(await brokenFaultRules(db, body));
      // Used-up faults have no effect and are no longer listed.
      await db.deleteFrom('faults').where('remaining', '=', 0).execute();
      const { times } = { ...DEFAULTS.CreateFaultRequest, ...body };
      const row = await db
        .insertInto('faults')
        .values({
          id: uuidv7({ msecs: now, random: ports.random.bytes(16) }),
          operations: body.operations ? JSON.stringify(body.operations) : null,
          api_key_ids: body.api_key_ids ? JSON.stringify(body.api_key_ids.map((id) => id.toLowerCase())) : null,
          effect: JSON.stringify(body.effect),
          times,
          remaining: times,
          created: now,
        })
        .returningAll()
        .executeTakeFirstOrThrow();
      const created = toFault(row);
      await record(db, { before: null, after: created });
      return created;
    });
    await sandbox.propagate();
    return fault;
  },
};

/** DELETE /sandbox/faults/{fault_id} */
export const removeFault: ServiceOperation<'removeFault'> = {
  kind: 'service',
  async run({ path, sandbox, runtime: { store } }, record) {
    await store.commit(async ({ db }) => {
      const removed = await db.deleteFrom('faults').where('id', '=', path.fault_id).returningAll().executeTakeFirst();
      await record(db, { before: toFault(requireFound(removed, 'fault of this identifier')), after: null });
    });
    await sandbox.propagate();
    return undefined;
  },
};

async function brokenFaultRules(db: Db, { operations: names = [], api_key_ids: keys = [] }: CreateFaultRequest): Promise<BrokenRule[]> {
  const errors: BrokenRule[] = [];
  names.forEach((name, index) => {
    if (!OPERATION_IDS.some((id) => id === name))
      errors.push({ pointer: `#/operations/${index}`, detail: 'must be an operationId of the reseller API, such as createVm' });
  });
  for (const [index, key] of keys.entries()) {
    const known = await db.selectFrom('api_keys').select('id').where('id', '=', key.toLowerCase()).executeTakeFirst();
    if (!known) errors.push({ pointer: `#/api_key_ids/${index}`, detail: 'must be the identifier of an API key' });
  }
  return errors;
}

function toFault({ id, operations: names, api_key_ids: keys, effect, times, remaining, created }: Selectable<FaultsTable>): Fault {
  return {
    id,
    operations: names === null ? null : JSON.parse(names),
    api_key_ids: keys === null ? null : JSON.parse(keys),
    effect: JSON.parse(effect),
    times,
    remaining,
    created: toInstant(created),
  };
}
