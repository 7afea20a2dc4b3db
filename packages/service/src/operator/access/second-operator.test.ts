import * as operator from '@reseller/operator-client';
import type { Client } from '@reseller/operator-client';
import { describe, expect, test } from 'vitest';

import { engines } from '../../../test/engines.ts';
import { refusalOf, startOperator } from '../../../test/operator.ts';
import type { TestOperator } from '../../../test/operator.ts';

const WAITING = { status: 409, type: expect.stringMatching(/confirmation-required$/) };

const DAY_MS = 86_400_000;

const newToken = async (client: Client, name: string) =>
  (await operator.createOperatorToken({ client, body: { name, scopes: ['admin'] } })).token;

/** Two operators whose tokens are a day old. */
async function withSecondOperator(service: TestOperator) {
  const { client, clientWith, clock } = service;
  const [first, second] = [clientWith(await newToken(client, 'First')), clientWith(await newToken(client, 'Second'))];
  await operator.setSecondOperator({ client, body: { second_operator: true } });
  clock.advance(DAY_MS);
  return { first, second };
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

test('a token that one of the two created, directly or through another, does not confirm', async () => {
  const service = await startOperator();
  const { client, clientWith, clock } = service;
  const ann = clientWith(await newToken(client, 'Ann'));
  const hers = clientWith(await newToken(ann, 'Ann again'));
  const herThird = clientWith(await newToken(hers, 'Ann once more'));
  const bob = clientWith(await newToken(client, 'Bob'));
  await operator.setSecondOperator({ client, body: { second_operator: true } });
  clock.advance(2 * DAY_MS);
  const body = { audit_retention_months: 120 };
  const setAs = (each: Client) => operator.setAuditRetention({ client: each, body });
  for (const [one, other] of [
    [ann, hers],
    [herThird, ann],
    [client, ann],
    [herThird, client],
  ] as const) {
    expect(await refusalOf(setAs(one))).toMatchObject(WAITING);
    expect(await refusalOf(setAs(other))).toMatchObject({
      ...WAITING,
      message: expect.stringContaining('One of the two tokens was created'),
    });
    // The first request still waits. It is withdrawn here, so that the next pair starts again.
    clock.advance(15 * 60_000);
  }
  expect(await refusalOf(setAs(herThird))).toMatchObject(WAITING);
  expect(await refusalOf(setAs(ann))).toMatchObject(WAITING);
  expect(await setAs(bob)).toMatchObject(body);
});

test('a token confirms when it is a day old, and not a millisecond before', async () => {
  const service = await startOperator();
  const { client, clientWith, clock } = service;
  const ann = clientWith(await newToken(client, 'Ann'));
  clock.advance(DAY_MS);
  const bob = clientWith(await newToken(client, 'Bob'));
  await operator.setSecondOperator({ client, body: { second_operator: true } });
  clock.advance(DAY_MS - 1);
  const body = { audit_retention_months: 120 };
  expect(await refusalOf(operator.setAuditRetention({ client: ann, body }))).toMatchObject(WAITING);
  expect(await refusalOf(operator.setAuditRetention({ client: bob, body }))).toMatchObject({
    ...WAITING,
    message: expect.stringContaining('younger than a day'),
  });
  clock.advance(1);
  expect(await operator.setAuditRetention({ client: bob, body })).toMatchObject(body);
});

test('a token that another operator has rotated belongs to that operator', async () => {
  const service = await startOperator();
  const { client, clientWith, clock } = service;
  const { id } = await operator.createOperatorToken({ client, body: { name: 'Bob', scopes: ['admin'] } });
  const ann = clientWith(await newToken(client, 'Ann'));
  const taken = await operator.rotateOperatorToken({ client: ann, path: { operator_token_id: id }, body: { overlap_seconds: 0 } });
  await operator.setSecondOperator({ client, body: { second_operator: true } });
  clock.advance(DAY_MS);
  const name = { name: 'Third', scopes: ['read' as const] };
  expect(await refusalOf(operator.createOperatorToken({ client: ann, body: name }))).toMatchObject(WAITING);
  const asBob = operator.createOperatorToken({ client: clientWith(taken.issued.token), body: name });
  expect(await refusalOf(asBob)).toMatchObject(WAITING);
});
