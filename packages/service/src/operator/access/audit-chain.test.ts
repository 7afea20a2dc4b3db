import * as operator from '@reseller/operator-client';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';

import { engines } from '../../../test/engines.ts';
import { newInstances } from '../../../test/instances.ts';
import { startOperator } from '../../../test/operator.ts';
import type { TestOperator } from '../../../test/operator.ts';
import { systemRandom } from '../../ports/system.ts';
import { verifyAuditChain } from './audit-chain.ts';
import { deleteOldRecords } from './audit-retention.ts';

async function changes({ client, clock }: TestOperator, account_id: string, count: number): Promise<void> {
  for (let number = 1; number <= count; number++) {
    clock.advance(1_000);
    await operator.setCreditLimit({ client, path: { account_id }, body: { credit_limit: `${number}.00` } });
  }
}

describe.each(engines)('on %s', (engine) => {
  test.each([
    ['changes a state', `update audit_records set state_after = '{"credit_limit":"9999.00"}' where seq = 3`, 3, 'its content was changed'],
    ['changes the actor', `update audit_records set actor_name = 'Jonas' where seq = 3`, 3, 'it was changed'],
    ['changes the time', 'update audit_records set time = time + 1 where seq = 3', 3, 'it was changed'],
    [
      'declares a content erased and changes its hash',
      `update audit_records set salt = '', content_hash = 'x' where seq = 3`,
      3,
      'its content was changed',
    ],
    [
      'replaces a content and declares it erased',
      `update audit_records set salt = '', state_after = '{"credit_limit":"9999.00"}' where seq = 3`,
      3,
      'its content was changed',
    ],
    [
      'erases a content without an erasure of an account',
      `update audit_records set salt = '', state_before = 'null', state_after = '{"erased":true}' where seq = 3`,
      3,
      'the erasure of no account names it',
    ],
    [
      'removes the oldest records in the name of the retention',
      `update audit_chain set deleted_seq = 2, deleted_hash = (select hash from audit_records where seq = 2);
        delete from audit_records where seq <= 2`,
      2,
      'the retention did not delete them',
    ],
    [
      'adds a record without a number',
      `insert into audit_records (id, time, actor, actor_name, address, operation, state_before, state_after, request_id)
        values ('added', 0, 'operator', 'operator', '', 'setVatRates', 'null', 'null', '')`,
      6,
      'the record added has no number',
    ],
    ['removes a record', 'delete from audit_records where seq = 3', 3, 'it is missing'],
    ['removes the newest records', 'delete from audit_records where seq >= 4', 4, 'it is missing'],
    ['removes the oldest record', 'delete from audit_records where seq = 1', 1, 'it is missing'],
    [
      'exchanges two records',
      'update audit_records set seq = case seq when 2 then -3 when 3 then -2 end where seq in (2, 3)',
      2,
      'it is missing',
    ],
  ])('finds where an intruder with access to the database %s', async (_, statement, seq, why) => {
    const service = await startOperator({ engine });
    await changes(service, (await service.account()).id, 5);
    expect(await verifyAuditChain(service.store)).toMatchObject({ verified: 5, broken: undefined, end: { seq: 5 } });
    for (const one of statement.split(';')) await service.store.commit(({ db }) => sql.raw(one).execute(db));
    expect((await verifyAuditChain(service.store)).broken).toEqual({ seq, why: expect.stringContaining(why) });
  });

  test('stays intact when the retention deletes old records, and when personal data is erased', async () => {
    const service = await startOperator({ engine });
    const { client, store, clock } = service;
    const { id } = await service.account();
    await changes(service, id, 3);
    await operator.setAuditRetention({ client, body: { audit_retention_months: 0 } });
    clock.advance(40 * 86_400_000);
    await changes(service, id, 3);
    await deleteOldRecords(store, systemRandom, clock.now());
    expect(await verifyAuditChain(store)).toMatchObject({ verified: 4, erased: 0, broken: undefined, end: { seq: 8 } });
    await operator.suspendAccount({ client, path: { account_id: id }, body: { reason: 'Left' } });
    await operator.eraseAccount({ client, path: { account_id: id } });
    expect(await verifyAuditChain(store)).toMatchObject({ verified: 6, erased: 4, broken: undefined });
    // Another record of the account, which the erasure does not name.
    await store.commit(({ db }) => sql`update audit_records set target = 'other' where seq = 6`.execute(db));
    expect((await verifyAuditChain(store)).broken).toEqual({ seq: 6, why: expect.stringContaining('the erasure of no account names it') });
  });

  test('a chain that was computed again differs from a link that was noted', async () => {
    const service = await startOperator({ engine });
    await changes(service, (await service.account()).id, 3);
    const { end } = await verifyAuditChain(service.store);
    expect((await verifyAuditChain(service.store, end)).broken).toBeUndefined();
    expect((await verifyAuditChain(service.store, { seq: 2, hash: '0'.repeat(64) })).broken).toMatchObject({ seq: 2 });
    expect((await verifyAuditChain(service.store, { seq: 9, hash: '0'.repeat(64) })).broken).toMatchObject({ seq: 4 });
  });
});

test('two instances write one chain, without gaps', { tags: 'outer' }, async () => {
  const instances = await newInstances();
  const both = [await instances.start(), await instances.start()];
  const set = (number: number) =>
    both[number % 2]?.operate('PUT', `/accounts/${instances.accountId}/credit-limit`, { credit_limit: `${number}.00` });
  const issue = (number: number) => both[number % 2]?.operate('POST', '/operator-tokens', { name: `n${number}`, scopes: ['read'] });
  const sent = Array.from({ length: 40 }, (_, number) => (number % 3 === 0 ? issue(number) : set(number)));
  for (const response of await Promise.all(sent)) expect(response?.status).toBeLessThan(300);
  const [one] = both;
  if (!one) throw new Error('No instance was started.');
  expect(await verifyAuditChain(one.store)).toMatchObject({ verified: 40, broken: undefined, end: { seq: 40 } });
});
