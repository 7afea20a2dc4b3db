import * as operator from '@reseller/operator-client';
import { describe, expect, test } from 'vitest';

import { engines } from '../../../test/engines.ts';
import { startOperator } from '../../../test/operator.ts';
import { systemRandom } from '../../ports/system.ts';
import { appendToChain, verifyAuditChain } from './audit-chain.ts';
import { deleteOldRecords } from './audit-retention.ts';

const NOVEMBER = Date.UTC(2026, 10, 10, 12);

describe.each(engines)('on %s', (engine) => {
  test('deletes records of older months, and none by default', async () => {
    const { client, store, runScheduledJobs } = await startOperator({ engine });
    const times = [Date.UTC(2026, 8, 30, 23, 59, 59, 999), Date.UTC(2026, 9, 1), NOVEMBER];
    const record = { actor: 'operator', actor_name: 'operator', address: '127.0.0.1', operation: 'setVatRates', target: null };
    const states = { state_before: 'null', state_after: 'null', request_id: '01900000-0000-7000-8000-00000000ffff' };
    await store.commit(async ({ db }) => {
      for (const [month, time] of times.entries())
        // More rows than one transaction deletes.
        for (let index = 0; index < (month === 0 ? 501 : 1); index++)
          await appendToChain(db, { ...record, ...states, id: `${month}-${index}`, time }, systemRandom);
    });
    const left = async () =>
      (await store.read((db) => db.selectFrom('audit_records').select('time').where('operation', '=', 'setVatRates').execute())).length;
    await deleteOldRecords(store, systemRandom, NOVEMBER);
    expect(await left()).toBe(503);
    expect(await operator.setAuditRetention({ client, body: { audit_retention_months: 1 } })).toMatchObject({ audit_retention_months: 1 });
    await runScheduledJobs();
    expect(await left()).toBe(2);
    await operator.setAuditRetention({ client, body: { audit_retention_months: 0 } });
    await deleteOldRecords(store, systemRandom, NOVEMBER);
    expect(await left()).toBe(1);
    await operator.setAuditRetention({ client, body: { audit_retention_months: null } });
    await deleteOldRecords(store, systemRandom, Date.UTC(2200, 0));
    expect(await left()).toBe(1);
    // Two records name what was deleted in the first round, and one the rest.
    expect(await verifyAuditChain(store)).toMatchObject({ broken: undefined });
  });
});
