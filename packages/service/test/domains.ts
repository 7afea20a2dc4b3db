/** Helpers that the tests of domains and handles share. */
import { expect } from 'vitest';

import type { TestService } from './harness.ts';

export const PERSON = {
  gender: 'MALE',
  firstname: 'Jonas',
  lastname: 'Weidenfels',
  street: 'Musterallee',
  number: '12a',
  zipcode: '60311',
  city: 'Frankfurt am Main',
  region: 'Hessen',
  countrycode: 'DE',
  email: 'jonas.weidenfels@reseller-customer.example',
} as const;

/** A DS record in the form of zone files. */
export const DS_RECORD = `60485 13 2 ${'d4b7d520e7bb5f0f'.repeat(4)}`;

export const PHONE = '+49.6955501234';

/** Creates a handle. */
export async function handleOf(service: TestService, wanted: { apiKey?: string; phone?: string } = { phone: PHONE }): Promise<string> {
  const { apiKey, ...phone } = wanted;
  const { body } = await service.call('createHandle', { form: { ...PERSON, ...phone }, ...(apiKey !== undefined && { apiKey }) });
  return body.data.handle;
}

/** Registers a domain with a new handle, for the first account of the service unless a key is given. */
export async function register(service: TestService, domain: string, apiKey = service.apiKey, nameservers: object = {}): Promise<void> {
  const handle = await handleOf(service, { phone: PHONE, apiKey });
  const { status } = await service.call('registerDomain', { form: { domain, handle, ...nameservers }, apiKey });
  expect(status).toBe(200);
}

/** The data that a refused request on domains must not change. */
export async function footprint({ store, registrar }: TestService) {
  const stored = await store.read(async (db) => ({
    domains: await db.selectFrom('domains').selectAll().orderBy('name').execute(),
    records: await db.selectFrom('dns_records').selectAll().orderBy('domain').orderBy('sub').orderBy('type').execute(),
    handles: await db.selectFrom('handles').selectAll().orderBy('id').execute(),
    charges: await db.selectFrom('charges').selectAll().orderBy('id').execute(),
    accounts: await db.selectFrom('accounts').selectAll().orderBy('id').execute(),
    reservations: await db.selectFrom('reservations').selectAll().execute(),
    keys: await db.selectFrom('idempotency_keys').selectAll().execute(),
  }));
  return { ...stored, registrar: [...registrar.domains] };
}

/** Pauses the registrar: calls that start from now on wait until the returned function is called. */
export function pauseRegistrar({ registrar }: TestService): () => void {
  let resume = () => {};
  registrar.waiting = new Promise((resolve) => (resume = resolve));
  return resume;
}

/** Waits until a request has stored its reservation. */
export async function untilReserved({ store }: TestService): Promise<void> {
  while ((await store.read((db) => db.selectFrom('reservations').select('id').execute())).length === 0) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
