/** A scheduled job that fails stops no other account, is shown to the operator, and is performed exactly once when its cause is gone. */
import * as operator from '@reseller/operator-client';
import { sql } from 'kysely';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';

import { byDepth } from '../../../../../.config/depth.ts';
import { orderServer, RYZEN, XEON } from '../../../test/dedicated.ts';
import { register } from '../../../test/domains.ts';
import { engines } from '../../../test/engines.ts';
import type { Engine } from '../../../test/engines.ts';
import { SMALL_VM } from '../../../test/harness.ts';
import type { TestService } from '../../../test/harness.ts';
import { expectInvariants } from '../../../test/invariants.ts';
import { refusalOf, startOperator } from '../../../test/operator.ts';
import type { TestOperator } from '../../../test/operator.ts';

/** A fault of one account, and the function that ends it. */
type Fault = (service: TestService, accountId: string) => Promise<() => Promise<void>>;

/** An insert into this table fails for the account. */
const refusing =
  (table: 'invoices' | 'charges' | 'issued_documents'): Fault =>
  async ({ store }, id) => {
    const statements = store.sharing.hasInstances
      ? [
          `create function broken() returns trigger language plpgsql as $$ begin raise exception 'the page is damaged'; end $$`,
          `create trigger broken before insert on ${table} for each row when (new.account_id = '${id}') execute function broken()`,
        ]
      : [
          `create trigger broken before insert on ${table} when new.account_id = '${id}' begin select raise(abort, 'the page is damaged'); end`,
        ];
    await store.commit(async ({ db }) => {
      for (const statement of statements) await sql.raw(statement).execute(db);
    });
    const drop = store.sharing.hasInstances ? `drop trigger broken on ${table}` : 'drop trigger broken';
    return async () => void (await store.commit(({ db }) => sql.raw(drop).execute(db)));
  };

/** The port gives no access to the server of the account. */
const withoutAccess: Fault = async ({ fleet }) => {
  const { automaticSetUp } = fleet;
  if (!automaticSetUp) throw new Error('The fleet has no automatic set-up.');
  fleet.automaticSetUp = {
    ...automaticSetUp,
    accessTo(identifier, random) {
      if (identifier === XEON) throw new Error('no access yet');
      return automaticSetUp.accessTo(identifier, random);
    },
  };
  return async () => void (fleet.automaticSetUp = automaticSetUp);
};

const noFault: Fault = async () => async () => {};

const faults: Readonly<Record<string, { readonly fault: Fault; readonly kind: string; readonly reason: RegExp }>> = {
  'whose invoice the store refuses': { fault: refusing('invoices'), kind: 'period_end', reason: /the page is damaged/ },
  'whose renewals the store refuses': { fault: refusing('charges'), kind: 'dedicated_setup', reason: /the page is damaged/ },
  'whose documents the store refuses': { fault: refusing('issued_documents'), kind: 'invoice_document', reason: /the page is damaged/ },
  'whose server the fleet does not set up': { fault: withoutAccess, kind: 'dedicated_setup', reason: /no access yet/ },
};

/** Three accounts with a VM and a domain each. The second one fails. It and the third one have a server. */
async function startAccounts(engine: Engine, lines: string[] = []) {
  const logger = pino({ level: 'error' }, { write: (line: string) => void lines.push(line) });
  const service = await startOperator({ engine, logger, tuning: { queueFiguresMs: 0 } });
  const accounts: { id: string; apiKey: string; name: string }[] = [];
  for (const name of ['first', 'second', 'third']) {
    const account = { ...(await service.account('100000.00')), name };
    accounts.push(account);
    await service.call('createVm', { form: SMALL_VM, apiKey: account.apiKey });
    service.clock.advance(1_237_411);
    await register(service, `${name}-customer.net`, account.apiKey);
  }
  const [, failing, last] = accounts;
  if (!failing || !last) throw new Error('There are three accounts.');
  await orderServer(service, XEON, failing.id);
  await orderServer(service, RYZEN, last.id);
  return { service, accounts, failing };
}

/** Everything that was billed to the accounts, by name. */
async function billed({ store }: TestService, accounts: readonly { id: string; name: string }[]) {
  return store.read(async (db) => {
    const result: Record<string, unknown> = {};
    for (const { id, name } of accounts) {
      const own = { invoices: ['total', 'period_start', 'status'], charges: ['type', 'start', 'stop', 'amount'] } as const;
      result[name] = {
        account: await db.selectFrom('accounts').select(['held', 'unpaid', 'period_start']).where('id', '=', id).executeTakeFirstOrThrow(),
        invoices: await db.selectFrom('invoices').select(own.invoices).where('account_id', '=', id).orderBy('period_start').execute(),
        charges: await db
          .selectFrom('charges')
          .select(own.charges)
          .where('account_id', '=', id)
          .orderBy('start')
          .orderBy('amount')
          .execute(),
        documents: (
          await db.selectFrom('issued_documents').select(['net', 'vat', 'issued']).where('account_id', '=', id).orderBy('issued').execute()
        ).map((row) => JSON.stringify(row)),
      };
    }
    return result;
  });
}

/** An odd number of seconds, a little more than nine days. */
const STEP_MS = 789_013_000;
/** Four months, and fourteen in a deep run. */
const STEPS = byDepth({ usual: 14, deep: 47 });

/** Runs some months, the last one after the end of the fault. */
async function runMonths(engine: Engine, fault: Fault, check: (service: TestOperator, failing: string) => Promise<void>) {
  const { service, accounts, failing } = await startAccounts(engine);
  const end = await fault(service, failing.id);
  const healthy = accounts.filter((account) => account !== failing);
  const eachStep: unknown[] = [];
  for (let step = 0; step < STEPS; step++) {
    service.clock.advance(STEP_MS);
    await service.runScheduledJobs();
    eachStep.push(await billed(service, healthy));
  }
  await check(service, failing.id);
  await end();
  service.clock.advance(3_601_000);
  await service.runScheduledJobs();
  await expectInvariants(service.store);
  const { body } = await service.operate('/due-work');
  expect([body.overdue, body.failed]).toEqual([0, []]);
  return { eachStep, final: await billed(service, accounts) };
}

describe.each(engines)('on %s', (engine) => {
  let withoutFault: ReturnType<typeof runMonths> | undefined;

  test.each(Object.entries(faults))('an account %s leaves all other accounts on time, and is billed once afterwards', async (_, given) => {
    const { fault, kind, reason } = given;
    const expected = await (withoutFault ??= runMonths(engine, noFault, async () => {}));
    const found = await runMonths(engine, fault, async (service, failing) => {
      const { failed } = (await service.operate('/due-work')).body;
      expect(failed).toMatchObject([{ account_id: failing, kind, reason: expect.stringMatching(reason) }]);
      expect(failed[0].attempts).toBeGreaterThan(byDepth({ usual: 5, deep: 30 }));
    });
    // Each invoice and renewal of the healthy accounts is there after the same step as without the fault.
    expect(found.eachStep).toEqual(expected.eachStep);
    expect(found.final).toEqual(expected.final);
  });

  test('shows a failed job until it succeeds, and tries it again after twice the time', async () => {
    const lines: string[] = [];
    const { service, failing } = await startAccounts(engine, lines);
    const { client, clock } = service;
    const ready = async (url: string) => {
      const response = await fetch(`${url}/readyz`);
      return [response.status, await response.json()];
    };
    expect(await ready(service.baseUrl)).toEqual([200, { status: 'ready' }]);
    const end = await refusing('invoices')(service, failing.id);
    clock.advanceTo('2026-12-01T00:00:07.000Z');
    await service.runScheduledJobs();
    const attempt = async () => {
      const [failed, ...others] = (await operator.getDueWork({ client })).failed;
      expect(others).toEqual([]);
      if (!failed) return undefined;
      return [failed.attempts, (Date.parse(failed.next_attempt) - Date.parse(failed.last_attempt)) / 60_000];
    };
    expect((await operator.getDueWork({ client })).failed).toMatchObject([
      {
        account_id: failing.id,
        kind: 'period_end',
        subject: failing.id,
        due: '2026-12-01T00:00:00.000Z',
        last_attempt: '2026-12-01T00:00:07.000Z',
      },
    ]);
    for (const url of [service.baseUrl, service.operatorUrl])
      expect(await ready(url)).toEqual([200, { status: 'degraded', reason: 'held_up', queues: ['period_ends'] }]);
    expect((await service.operate('/metrics')).text).toMatch(/^reseller_queue_failed\{queue="period_ends"\} 1$/m);
    // The job that waits after its failure hides no other one.
    expect((await service.operate('/metrics')).text).toMatch(/^reseller_queue_oldest_age_seconds\{queue="period_ends"\} 0$/m);
    expect((await service.operate('/metrics')).text).toMatch(/^reseller_scheduled_job_failures_total 1$/m);
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { account: failing.id, kind: 'period_end', err: { message: expect.stringMatching('the page is damaged') } },
    ]);
    for (const [attempts, minutes] of [
      [1, 1],
      [2, 2],
      [3, 4],
      [4, 8],
      [5, 16],
      [6, 32],
      [7, 60],
      [8, 60],
    ] as const) {
      expect(await attempt()).toEqual([attempts, minutes]);
      clock.advance(minutes * 60_000 - 1);
      await service.runScheduledJobs();
      expect(await attempt()).toEqual([attempts, minutes]);
      clock.advance(1);
      // Its next attempt is due, and was not made yet.
      expect(await ready(service.baseUrl)).toEqual([200, { status: 'degraded', reason: 'held_up', queues: ['period_ends'] }]);
      await service.runScheduledJobs();
    }
    await end();
    const path = { account_id: failing.id };
    const { id: otherId } = await service.account();
    await service.store.commit(async ({ db }) => {
      const row = await db.selectFrom('failed_jobs').selectAll().executeTakeFirstOrThrow();
      await db
        .insertInto('failed_jobs')
        .values({ ...row, account_id: otherId })
        .execute();
    });
    const { failed } = await operator.retryJobs({ client, path });
    expect(failed).toMatchObject([{ attempts: 9, next_attempt: new Date(clock.now()).toISOString() }]);
    const waiting = (await operator.getDueWork({ client })).failed.filter(({ account_id }) => account_id === otherId);
    expect(waiting).toMatchObject([{ next_attempt: new Date(clock.now() + 60 * 60_000).toISOString() }]);
    await service.store.commit(({ db }) => db.deleteFrom('failed_jobs').where('account_id', '=', otherId).execute());
    await service.runScheduledJobs();
    expect(await attempt()).toBeUndefined();
    expect(await ready(service.baseUrl)).toEqual([200, { status: 'ready' }]);
    expect(await operator.retryJobs({ client, path })).toEqual({ failed: [] });
    expect(await refusalOf(operator.retryJobs({ client, path: { account_id: '0192f7b4-2b3c-7d4e-9f50-6b7c8d9e0f1a' } }))).toMatchObject({
      status: 404,
    });
  });

  test('tries a job that failed within a second again at a full second, a minute later at the earliest', async () => {
    const { service, failing } = await startAccounts(engine);
    const { client, clock } = service;
    await refusing('invoices')(service, failing.id);
    const failed = async () =>
      (await operator.getDueWork({ client })).failed.map((job) => [job.attempts, job.last_attempt, job.next_attempt]);
    clock.advanceTo('2026-12-01T00:00:07.389Z');
    await service.runScheduledJobs();
    const first = [1, '2026-12-01T00:00:07.389Z', '2026-12-01T00:01:08.000Z'];
    expect(await failed()).toEqual([first]);
    clock.advanceTo('2026-12-01T00:01:07.999Z');
    await service.runScheduledJobs();
    expect(await failed()).toEqual([first]);
    clock.advance(1);
    await service.runScheduledJobs();
    expect(await failed()).toEqual([[2, '2026-12-01T00:01:08.000Z', '2026-12-01T00:03:08.000Z']]);
  });

  test('a request of the account that performs its jobs ends the failure', async () => {
    const { service, failing } = await startAccounts(engine);
    const end = await refusing('invoices')(service, failing.id);
    service.clock.advanceTo('2026-12-01T00:00:00Z');
    await service.runScheduledJobs();
    expect((await service.call('listInvoices', { apiKey: failing.apiKey })).status).toBe(500);
    await end();
    expect((await service.call('listInvoices', { apiKey: failing.apiKey })).status).toBe(200);
    expect((await operator.getDueWork({ client: service.client })).failed).toEqual([]);
  });
});
