/** Provider actions for fault tests, through the operator API of one instance. */
import { advanceClock, createClient, createIsolatedAccount, getClock, setApiKeyRestrictions } from '@reseller/operator-client';
import type { Client } from '@reseller/operator-client';
import { expect } from 'vitest';

import type { Server } from '../process.ts';
import { fetchOf } from './request.ts';

/** The operator token of all instances in fault tests. */
export const OPERATOR_TOKEN = 'operator-token-of-the-proofs-0123456789';
/** The secret of all instances in fault tests. */
export const SECRET = 'secret-of-the-proofs-0123456789abcdef';

/** An account for one test or one of its rounds. */
export interface Account {
  readonly id: string;
  readonly apiKey: string;
  /** A handle that domains can be registered to. */
  readonly handle: string;
}

export function operatorOf({ operatorUrl }: Pick<Server, 'operatorUrl'>): Client {
  return createClient({ baseUrl: operatorUrl, token: OPERATOR_TOKEN });
}

/** Creates an account with a key and a handle. */
export async function newAccount(server: Server, creditLimit = '1000000.00'): Promise<Account> {
  const body = { name: 'Proof', credit_limit: creditLimit };
  const { account, api_key } = await createIsolatedAccount({ client: operatorOf(server), body });
  const apiKey = api_key.key;
  // High enough for every purchase: the sums under the limit must be exact after a fault.
  const spending_limit = { per_day: '9999999.00', per_month: '9999999.00', operations: null };
  await setApiKeyRestrictions({
    client: operatorOf(server),
    path: { api_key_id: api_key.id },
    body: { valid_until: null, allowed_networks: null, spending_limit },
  });
  const created = await fetchOf(server.baseUrl, apiKey, {
    method: 'PUT',
    path: '/domain/handle/create',
    form: {
      gender: 'MALE',
      firstname: 'Max',
      lastname: 'Muster',
      street: 'Hauptstrasse',
      number: '1',
      zipcode: '60311',
      city: 'Frankfurt',
      region: 'Hessen',
      countrycode: 'DE',
      email: 'max@example.com',
      phone: '+49.6955501234',
    },
  });
  expect([created.status, created.body.message]).toEqual([200, expect.any(String)]);
  return { id: account.id, apiKey, handle: created.body.data.handle };
}

/** Creates the accounts of all rounds before the first outage. After it, a request may still use a connection that the outage broke. */
export async function newAccounts(server: Server, count: number): Promise<Account[]> {
  const accounts: Account[] = [];
  while (accounts.length < count) accounts.push(await newAccount(server));
  return accounts;
}

/**
 * Advances the clock to the middle of the next month, so that no month ends during a test by chance.
 *
 * @returns The new time of the clock.
 */
export async function goToMidMonth(server: Server): Promise<Date> {
  const client = operatorOf(server);
  const now = new Date((await getClock({ client })).now);
  const middle = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 14, 12));
  await advanceClock({ client, body: { to: middle.toISOString() } });
  return middle;
}
