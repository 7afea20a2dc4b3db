import * as operator from '@reseller/operator-client';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';

import { register } from '../../test/domains.ts';
import { engines, storePlace } from '../../test/engines.ts';
import { SMALL_VM } from '../../test/harness.ts';
import { NO_FACTS } from '../../test/no-facts.ts';
import { startOperator } from '../../test/operator.ts';
import { START } from '../../test/ports/clock.ts';
import { accountRows } from '../core/account/export.ts';

/** Parts of the request log, which is exported as a whole. */
const LOG_TABLES: ReadonlySet<string> = new Set(['request_log_bodies', 'request_log_inbox']);

describe.each(engines)('on %s', (engine) => {
  test('exports all data of the account and none of other accounts, without secrets', async () => {
    const service = await startOperator({ engine });
    const { client, store } = service;
    const [{ id, apiKey }, other] = [await service.account(), await service.account()];
    const passwords: string[] = [];
    for (const key of [apiKey, other.apiKey]) {
      const { body } = await service.call('createVm', { form: { ...SMALL_VM, hostname: 'web1' }, apiKey: key, idempotencyKey: 'order-1' });
      passwords.push(body.data.config.password);
    }
    await register(service, 'exported.net', apiKey);
    await register(service, 'others.net', other.apiKey);
    const { authcode } = (await service.call('requestDomainAuthcode', { path: { domain: 'exported.net' }, apiKey })).body.data;
    const { otp_code } = (await service.call('generateOtp', { apiKey })).body.data;
    const profile = { company: 'Nordwind Hosting GmbH', street: 'Musterallee 1', postal_code: '60311', city: 'Frankfurt', country: 'DE' };
    await operator.setBillingProfile({ client, path: { account_id: id }, body: { ...profile, vat_id: null, reverse_charge: false } });
    // More entries than the export reads at once.
    const entry = {
      account_id: id,
      success: 1,
      endpoint: '/vm/list/hosts',
      method: 'GET',
      request_body: '{}',
      error_type: null,
      ...NO_FACTS,
    };
    const more = Array.from({ length: 450 }, (_, index) => ({
      ...entry,
      request_id: `request-${index}`,
      date: index,
      response_body: '{}',
    }));
    await Promise.all(more.map((one) => store.requestLog.append(one)));

    const exported = await operator.exportAccount({ client, path: { account_id: id } });
    expect(exported).toMatchObject({ account_id: id, exported_at: new Date(START).toISOString() });
    const { tables } = exported;
    const expected = Object.entries(accountRows).flatMap(([table, rows]) => (rows === null ? [] : [table]));
    expect(Object.keys(tables).toSorted()).toEqual(expected.toSorted());
    expect(tables).toMatchObject({
      accounts: [{ id }],
      api_keys: [{ account_id: id, label: 'test' }],
      billing_profiles: [{ company: 'Nordwind Hosting GmbH' }],
      handles: [{ email: 'jonas.weidenfels@reseller-customer.example' }],
      vms: [{ account_id: id, hostname: 'web1' }],
      domains: [{ name: 'exported.net' }],
      positions: [{ account_id: id }],
      charges: [{ subject: 'exported.net' }],
    });
    expect(tables['ip_addresses']?.length).toBeGreaterThan(0);
    const log = tables['request_log'] ?? [];
    expect(new Set(log.map(({ request_id }) => request_id)).size).toBe(455);
    expect(log.map(({ number }) => number)).toEqual(Array.from({ length: 455 }, (_, index) => 455 - index));

    const text = JSON.stringify(exported);
    for (const secret of [apiKey, authcode, otp_code, ...passwords, other.id, 'others.net']) expect(text).not.toContain(secret);
    const columns = new Set(Object.values(tables).flatMap((rows) => rows.flatMap((row) => Object.keys(row))));
    expect([...columns].filter((column) => /hash|sealed|^response$|fingerprint|password(?!_enabled$)/.test(column))).toEqual([]);
  });

  test.each([1, 2, 3, 200])('exports all events and deliveries, %i at a time', async (exportPage) => {
    const service = await startOperator({ engine, tuning: { exportPage } });
    const { client, store } = service;
    const [account, other] = [await service.account(), await service.account()];
    for (const { apiKey } of [account, other]) {
      for (const name of ['a', 'b'])
        await service.call('addWebhook', { form: { url: `https://${name}.invalid/`, enabled: false }, apiKey });
      for (const hostname of ['one', 'two', 'three', 'four']) await service.call('createVm', { form: { ...SMALL_VM, hostname }, apiKey });
    }
    await service.runScheduledJobs();
    await store.commit(({ db }) =>
      sql`
        insert into webhook_deliveries (webhook_id, number, event_id, subject, state, attempts, next_attempt, claimed_until, created)
        select webhooks.id, 100 + events.position, events.id, events.subject, 'delivered', 1, 0, 0, 0
        from events join webhooks on webhooks.account_id = events.account_id`.execute(db),
    );
    const expected = await store.read(async (db) => ({
      events: await db.selectFrom('events').select('id').where('account_id', '=', account.id).orderBy('position').execute(),
      webhook_deliveries: await db
        .selectFrom('webhook_deliveries')
        .innerJoin('webhooks', 'webhooks.id', 'webhook_id')
        .select(['webhook_id', 'number', 'event_id'])
        .where('account_id', '=', account.id)
        .orderBy('webhook_id')
        .orderBy('number')
        .execute(),
    }));
    expect(expected.events.length).toBeGreaterThan(3);
    expect(expected.webhook_deliveries.length).toBeGreaterThanOrEqual(expected.events.length * 2);
    const { tables } = await operator.exportAccount({ client, path: { account_id: account.id } });
    expect(tables['events']?.map(({ id }) => ({ id }))).toEqual(expected.events);
    const found = tables['webhook_deliveries']?.map(({ webhook_id, number, event_id }) => ({ webhook_id, number, event_id }));
    expect(found).toEqual(expected.webhook_deliveries);
  });

  test('exports every table with a column for an account', async () => {
    const store = await (await storePlace(engine)).open();
    const tables = await store.read((db) => db.introspection.getTables());
    const ofAccounts = tables.filter(({ columns }) => columns.some(({ name }) => name === 'account_id')).map(({ name }) => name);
    expect(ofAccounts.length).toBeGreaterThan(15);
    const exported = new Map<string, unknown>(Object.entries(accountRows));
    const isPartition = (name: string) => name.startsWith('request_log_') && !LOG_TABLES.has(name);
    expect(ofAccounts.filter((name) => !exported.get(name) && !LOG_TABLES.has(name) && !isPartition(name))).toEqual([]);
  });
});
