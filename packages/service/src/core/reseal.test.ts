import * as operator from '@reseller/operator-client';
import { sql } from 'kysely';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';

import { SECRET, SMALL_VM } from '../../test/harness.ts';
import { OPERATOR_TOKEN, startOperator } from '../../test/operator.ts';
import type { TestOperator } from '../../test/operator.ts';
import { createService, reseal, seedDemoAccount, systemRandom } from '../index.ts';
import { sampleIdentifiers } from '../sandbox/sample-identifiers.ts';
import { secretsOf } from './events/webhook.ts';
import { SEALED } from './reseal.ts';
import { userDataOf } from './vm/user-data.ts';

const NEW = 'n'.repeat(32);
const USER_DATA = '#!/bin/sh\necho ready\n';
const quiet = pino({ level: 'silent' });

/** A sandbox with an auth code, a dedicated server, a one-time code, and a snapshot of them. */
async function startFilledSandbox() {
  const service = await startOperator();
  await seedDemoAccount(service.store, { ports: service.ports, secret: SECRET });
  const account = 'account_id' as const;
  const { [account]: demo } = await service.store.read((db) =>
    db.selectFrom('domains').select(account).where('name', '=', sampleIdentifiers.domain).executeTakeFirstOrThrow(),
  );
  const { key: apiKey } = await operator.issueApiKey({ client: service.client, path: { account_id: demo }, body: { label: 'x' } });
  service.registrar.domains.set(sampleIdentifiers.domain, {
    contact: Object({}),
    nameservers: [],
    authcode: null,
    renewed: true,
    transferLock: false,
    dsRecords: [],
  });
  await service.call('requestDomainAuthcode', { path: { domain: sampleIdentifiers.domain }, apiKey });
  await service.call('createVm', { form: { ...SMALL_VM, user_data: USER_DATA }, apiKey });
  await operator.createSnapshot({ client: service.client, path: { snapshot: 'sealed' } });
  return { service, apiKey };
}

/** The secrets in the responses of a second service on the store. */
async function shownBy({ store, ports }: TestOperator, apiKey: string, secrets: { secret: string; previousSecret?: string }) {
  const service = await createService({ store, ports, ...secrets, operatorToken: OPERATOR_TOKEN, logger: quiet });
  onTestFinished(() => service.close());
  const ask = async (url: string) => {
    const { statusCode, body } = await service.app.inject({ url, headers: { 'x-service-apikey': apiKey } });
    expect(statusCode).toBe(200);
    return JSON.parse(body).data;
  };
  return {
    service,
    authcode: (await ask(`/domain/${sampleIdentifiers.domain}/info`)).domain.authcode,
    password: (await ask(`/dedicated/${sampleIdentifiers.dedicatedServer}/info`)).management.password,
    webhookSecrets: await store.read((db) =>
      secretsOf(db, { previousSecret: undefined, ...secrets }, { id: sampleIdentifiers.webhook, now: 0 }),
    ),
    link: Object.values<{ invoice: string }>(await ask('/accounting/invoices'))[0]?.invoice ?? '',
  };
}

test('a service with both secrets reads values sealed with either; after resealing, the old secret is neither needed nor accepted', async () => {
  const { service, apiKey } = await startFilledSandbox();
  const { store, ports } = service;
  const first = await shownBy(service, apiKey, { secret: SECRET });
  expect(first.authcode).toMatch(/^\w{16}$/);
  const both = { secret: NEW, previousSecret: SECRET };
  await expect(createService({ store, ports, secret: NEW, logger: quiet })).rejects.toThrow(/RESELLER_SECRET_PREVIOUS/);
  const during = await shownBy(service, apiKey, both);
  expect(first.webhookSecrets).toEqual([expect.stringMatching(/^whsec_/)]);
  expect([during.authcode, during.password, during.webhookSecrets]).toEqual([first.authcode, first.password, first.webhookSecrets]);
  const path = (link: string) => new URL(link).pathname + new URL(link).search;
  expect((await during.service.app.inject({ url: path(first.link) })).statusCode).toBe(200);
  const { otp_code: code } = (await service.call('generateOtp')).body.data;

  const repeat = { apiKey, idempotencyKey: 'attempt-1' };
  const kept = await service.call('generateOtp', repeat);
  await store.commit(({ db }) =>
    db
      .insertInto('idempotency_keys')
      .columns(['account_id', 'key_hash', 'fingerprint', 'state', 'response', 'created'])
      .expression(
        db
          .selectFrom('idempotency_keys')
          .select((eb) => [
            'account_id',
            eb.val('old').as('key_hash'),
            'fingerprint',
            'state',
            eb.val('0000.of-an-api-key').as('response'),
            'created',
          ]),
      )
      .execute(),
  );
  const counts = await reseal(store, both, { random: systemRandom, now: service.clock.now() });
  expect(counts).toEqual({ authcodes: 1, passwords: 2, userData: 1, webhookSecrets: 1, responses: 1, inSnapshots: 5, openCodes: 2 });
  const repeated = await during.service.app.inject({
    method: 'POST',
    url: '/account/otp',
    headers: { 'x-service-apikey': apiKey, 'idempotency-key': repeat.idempotencyKey },
  });
  expect(JSON.parse(repeated.body)).toEqual(kept.body);
  expect(await reseal(store, both, { random: systemRandom, now: service.clock.now() })).toMatchObject({
    authcodes: 0,
    passwords: 0,
    webhookSecrets: 0,
    inSnapshots: 0,
  });
  // A one-time code of the old secret stays valid while both secrets are accepted.
  const verified = await during.service.operator.inject({
    method: 'POST',
    url: '/otp/verify',
    headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, 'content-type': 'application/json' },
    payload: JSON.stringify({ code }),
  });
  expect(verified.statusCode).toBe(200);

  await expect(createService({ store, ports, secret: SECRET, logger: quiet })).rejects.toThrow(/not the one/);
  const after = await shownBy(service, apiKey, { secret: NEW });
  expect([after.authcode, after.password, after.webhookSecrets]).toEqual([first.authcode, first.password, first.webhookSecrets]);
  expect((await after.service.app.inject({ url: path(first.link) })).statusCode).toBe(404);
  expect((await after.service.app.inject({ url: path(after.link) })).statusCode).toBe(200);
  const restored = await after.service.operator.inject({
    method: 'POST',
    url: '/sandbox/snapshots/sealed/restore',
    headers: { authorization: `Bearer ${OPERATOR_TOKEN}` },
  });
  expect(restored.statusCode).toBe(200);
  const { vm_id: vmId } = await store.read((db) => db.selectFrom('vm_user_data').select('vm_id').executeTakeFirstOrThrow());
  expect(await store.read((db) => userDataOf(db, { secret: NEW }, vmId))).toBe(USER_DATA);
  const again = await shownBy(service, apiKey, { secret: NEW });
  expect([again.authcode, again.password, again.webhookSecrets]).toEqual([first.authcode, first.password, first.webhookSecrets]);
});

test('every column of sealed values is resealed', async () => {
  const { store } = await startOperator();
  const { rows } = await store.read((db) =>
    sql<{ table: string; column: string }>`
      select tables.name as "table", columns.name as "column" from sqlite_master as tables, pragma_table_info(tables.name) as columns
      where columns.name like 'sealed%' order by tables.name
    `.execute(db),
  );
  expect(rows.length).toBeGreaterThan(1);
  expect(Object.values(SEALED).map(({ table, column }) => ({ table, column }))).toEqual(expect.arrayContaining(rows));
});

test('with a wrong previous secret, resealing changes nothing', async () => {
  const { service, apiKey } = await startFilledSandbox();
  const wrong = { secret: NEW, previousSecret: 'w'.repeat(32) };
  await expect(reseal(service.store, wrong, { random: systemRandom, now: 0 })).rejects.toThrow(/Nothing was changed/);
  expect((await shownBy(service, apiKey, { secret: SECRET })).authcode).toMatch(/^\w{16}$/);
});
