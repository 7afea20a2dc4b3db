import * as operator from '@reseller/operator-client';
import { describe, expect, test } from 'vitest';

import { engines } from '../../../test/engines.ts';
import { refusalOf, startOperator } from '../../../test/operator.ts';
import type { TestOperator } from '../../../test/operator.ts';

const WAITING = { status: 409, type: expect.stringMatching(/confirmation-required$/) };

async function withSecondOperator(service: TestOperator) {
  const { client } = service;
  const { token } = await operator.createOperatorToken({ client, body: { name: 'Second', scopes: ['admin'] } });
  await operator.setSecondOperator({ client, body: { second_operator: true } });
  return { first: client, second: service.clientWith(token) };
}

describe.each(engines)('on %s', (engine) => {
  test('erases an account only after a second operator has sent the same request', async () => {
    const service = await startOperator({ engine });
    const { first, second } = await withSecondOperator(service);
    const [account, other] = [await service.account(), await service.account()];
    for (const { id } of [account, other])
      await operator.suspendAccount({ client: first, path: { account_id: id }, body: { reason: 'Left' } });
    const erase = (client: typeof first, { id }: { id: string }) => operator.eraseAccount({ client, path: { account_id: id } });
    expect(await refusalOf(erase(first, account))).toMatchObject(WAITING);
    // Neither the same operator again, nor a second one with another account.
    expect(await refusalOf(erase(first, account))).toMatchObject(WAITING);
    expect(await refusalOf(erase(second, other))).toMatchObject(WAITING);
    expect(await erase(second, account)).toMatchObject({ erased_at: expect.any(String) });
    // A confirmation counts once.
    expect(await refusalOf(erase(second, account))).toMatchObject(WAITING);
    const { items } = await operator.listAuditRecords({ client: first, query: { operation: 'eraseAccount', target: other.id } });
    expect(items).toMatchObject([{ actor_name: 'Second', after: { waits_for: 'a second operator' } }]);
  });

  test('a confirmation expires after 15 minutes', async () => {
    const service = await startOperator({ engine });
    const { first, second } = await withSecondOperator(service);
    const { id } = await service.account();
    await operator.suspendAccount({ client: first, path: { account_id: id }, body: { reason: 'Left' } });
    const path = { account_id: id };
    expect(await refusalOf(operator.eraseAccount({ client: first, path }))).toMatchObject(WAITING);
    service.clock.advance(15 * 60_000);
    expect(await refusalOf(operator.eraseAccount({ client: second, path }))).toMatchObject(WAITING);
  });
});

test('a snapshot is restored, and the setting changed back, only by two operators', async () => {
  const service = await startOperator();
  const { first, second } = await withSecondOperator(service);
  const path = { snapshot: 'before' };
  await operator.createSnapshot({ client: first, path });
  expect(await refusalOf(operator.restoreSnapshot({ client: first, path }))).toMatchObject(WAITING);
  await operator.restoreSnapshot({ client: second, path });
  const off = { second_operator: false };
  expect(await refusalOf(operator.setSecondOperator({ client: first, body: off }))).toMatchObject(WAITING);
  // The second request must have the same body.
  expect(await refusalOf(operator.setSecondOperator({ client: second, body: { second_operator: true } }))).toMatchObject(WAITING);
  expect(await operator.setSecondOperator({ client: second, body: off })).toMatchObject(off);
  await operator.restoreSnapshot({ client: first, path });
});
