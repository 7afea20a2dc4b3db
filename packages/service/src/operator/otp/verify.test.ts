/** The lock of verifiers that guess one-time codes: its scope and its duration. */
import * as operator from '@reseller/operator-client';
import type { Client } from '@reseller/operator-client';
import { expect, test } from 'vitest';

import { startOperator } from '../../../test/operator.ts';
import type { TestOperator } from '../../../test/operator.ts';

const TEN_MINUTES = 600_000;

/** The status of a verification, with the seconds of Retry-After if there are any. */
async function verify(client: Client, code: string, account_id?: string): Promise<string> {
  const body = { code, ...(account_id === undefined ? {} : { account_id }) };
  try {
    return String((await operator.verifyOtp({ client, body }).withMeta()).status);
  } catch (error) {
    if (!(error instanceof operator.ResellerError)) throw error;
    return [error.status, error.retryAfter].filter((part) => part !== undefined).join(' after ');
  }
}

async function fiveWrong(client: Client, account?: string): Promise<void> {
  for (let attempt = 0; attempt < 5; attempt++) expect(await verify(client, '00000000', account)).toBe('404');
}

async function verifierOf({ client, clientWith }: TestOperator, name: string): Promise<Client> {
  const { token } = await operator.registerVerifier({ client, body: { name } });
  return clientWith(token);
}

/** Another account, and a function that generates a new code of it. */
async function accountWithCodes(service: TestOperator) {
  const { id, apiKey } = await service.account();
  const newCode = async (): Promise<string> => (await service.call('generateOtp', { apiKey })).body.data.otp_code;
  return { id, newCode };
}

test('locks one verifier on one account for ten minutes after five wrong codes, and nothing else', async () => {
  const service = await startOperator();
  const [desk, panel] = [await verifierOf(service, 'Desk'), await verifierOf(service, 'Panel')];
  const [one, other] = [await accountWithCodes(service), await accountWithCodes(service)];
  await fiveWrong(desk, one.id);
  expect(await verify(desk, await one.newCode(), one.id)).toBe('429 after 600');
  expect(await verify(desk, await other.newCode(), other.id)).toBe('200');
  expect(await verify(desk, await other.newCode())).toBe('200');
  expect(await verify(panel, await one.newCode(), one.id)).toBe('200');
  expect(await verify(service.client, await one.newCode(), one.id)).toBe('200');
  service.clock.advance(TEN_MINUTES - 1);
  expect(await verify(desk, await one.newCode(), one.id)).toBe('429 after 1');
  service.clock.advance(1);
  expect(await verify(desk, await one.newCode(), one.id)).toBe('200');
});

test('locks only attempts without an account after wrong codes without an account', async () => {
  const service = await startOperator();
  const desk = await verifierOf(service, 'Desk');
  const { id, newCode } = await accountWithCodes(service);
  await fiveWrong(desk);
  expect(await verify(desk, await newCode())).toBe('429 after 600');
  expect(await verify(desk, await newCode(), id)).toBe('200');
});

test('counts the wrong codes of each operator token for itself', async () => {
  const service = await startOperator();
  const { id, newCode } = await accountWithCodes(service);
  const { token } = await operator.createOperatorToken({ client: service.client, body: { name: 'Support', scopes: ['support'] } });
  const support = service.clientWith(token);
  await fiveWrong(support, id);
  expect(await verify(support, await newCode(), id)).toBe('429 after 600');
  expect(await verify(service.client, await newCode(), id)).toBe('200');
  await fiveWrong(service.client, id);
  expect(await verify(service.client, await newCode(), id)).toBe('429 after 600');
});

test('refuses a code of another account, and accepts it for its own account afterwards', async () => {
  const service = await startOperator();
  const desk = await verifierOf(service, 'Desk');
  const [one, other] = [await accountWithCodes(service), await accountWithCodes(service)];
  const code = await one.newCode();
  expect(await verify(desk, code, other.id)).toBe('404');
  expect(await verify(desk, code, one.id)).toBe('200');
});

test.each([true, false])('does not count a correct code that loses a race as wrong (with an account: %s)', async (isNamed) => {
  const service = await startOperator();
  const desk = await verifierOf(service, 'Desk');
  const { id, newCode } = await accountWithCodes(service);
  const account = isNamed ? id : undefined;
  const code = await newCode();
  const responses = await Promise.all(Array.from({ length: 12 }, () => verify(desk, code, account)));
  expect(responses.toSorted()).toEqual(['200', ...Array.from({ length: 11 }, () => '404')]);
  expect(await verify(desk, await newCode(), account)).toBe('200');
});

test('counts each of several concurrent attempts', async () => {
  const service = await startOperator();
  const desk = await verifierOf(service, 'Desk');
  const { id } = await accountWithCodes(service);
  const responses = await Promise.all(Array.from({ length: 12 }, () => verify(desk, '00000000', id)));
  expect(responses.filter((response) => response === '404')).toHaveLength(5);
  expect(responses.filter((response) => response === '429 after 600')).toHaveLength(7);
});

test('ends a lock when the clock is advanced beyond it', async () => {
  const service = await startOperator();
  const { client } = service;
  const desk = await verifierOf(service, 'Desk');
  const { id, newCode } = await accountWithCodes(service);
  await fiveWrong(desk, id);
  await operator.advanceClock({ client, body: { by_seconds: 600 } });
  expect(await verify(desk, await newCode(), id)).toBe('200');
});

test.each(['restore', 'reset'])('keeps no lock after an advance of a day and a %s', async (way) => {
  const service = await startOperator();
  const { client } = service;
  const desk = await verifierOf(service, 'Desk');
  await operator.createSnapshot({ client, path: { snapshot: 'before' } });
  await operator.advanceClock({ client, body: { by_seconds: 86_400 } });
  await fiveWrong(desk);
  if (way === 'reset') await operator.resetSandbox({ client });
  else await operator.restoreSnapshot({ client, path: { snapshot: 'before' } });
  const { id, newCode } = await accountWithCodes(service);
  expect(await verify(desk, await newCode())).toBe('200');
  expect(await verify(desk, await newCode(), id)).toBe('200');
});

test('does not lock for failures at a time that the clock has not reached', async () => {
  const service = await startOperator();
  const desk = await verifierOf(service, 'Desk');
  const { id, newCode } = await accountWithCodes(service);
  service.clock.advance(86_400_000);
  await fiveWrong(desk, id);
  service.clock.advance(-86_400_000);
  expect(await verify(desk, await newCode(), id)).toBe('200');
});

test('deletes failures that no longer count', async () => {
  const service = await startOperator();
  const desk = await verifierOf(service, 'Desk');
  const { id } = await accountWithCodes(service);
  const kept = () => service.store.read((db) => db.selectFrom('otp_attempts').select('account_id').execute());
  await fiveWrong(desk, id);
  expect(await kept()).toHaveLength(1);
  service.clock.advance(TEN_MINUTES);
  await service.runScheduledJobs();
  expect(await kept()).toEqual([]);
});

test('accounts that do not exist give no further attempts, and share one counter', async () => {
  const service = await startOperator();
  const desk = await verifierOf(service, 'Desk');
  const invented = (number: number) => `0192f7a4-0000-7000-8000-00000000000${number}`;
  for (let number = 0; number < 5; number++) expect(await verify(desk, '00000000', invented(number))).toBe('404');
  expect(await verify(desk, '00000000', invented(9))).toBe('429 after 600');
  expect(await service.store.read((db) => db.selectFrom('otp_attempts').select('account_id').execute())).toEqual([{ account_id: '' }]);
});
