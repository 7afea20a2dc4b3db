/** The URL of a webhook accepts a test before anything else is sent to it. */
import { Webhook as Verifier } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';

import { engines } from '../../../test/engines.ts';
import { SMALL_VM, startService } from '../../../test/harness.ts';
import type { TestService } from '../../../test/harness.ts';
import { insertMany } from '../../../test/insert-many.ts';
import { until } from '../../../test/instances.ts';
import { accept, fail, lastOf, startReceiver } from '../../../test/webhook-receiver.ts';
import type { Receiver, Respond } from '../../../test/webhook-receiver.ts';
import { MAX_WAITING } from '../../core/events/deliveries.ts';

const HOUR = 3_600_000;
const gone: Respond = (_got, response) => void response.writeHead(410).end();
const typesOf = ({ got }: Receiver) => got.map(({ event }) => event.type);

async function startWithWebhook(options: Parameters<typeof startService>[0], respond: Respond, form = {}) {
  const [service, receiver] = await Promise.all([startService(options), startReceiver(respond)]);
  const { body } = await service.call('addWebhook', { form: { url: receiver.url, ...form } });
  const path = { webhook_id: String(body.data.webhook_id) };
  return {
    service,
    receiver,
    added: body.data,
    path,
    buyVm: () => service.call('createVm', { form: SMALL_VM }),
    edit: (changes: Readonly<Record<string, unknown>>) => service.call('editWebhook', { path, form: changes }),
    sendTest: () => service.call('testWebhook', { path }),
    webhook: async () => (await service.call('listWebhooks')).body.data.list[0],
    deliveries: async () => (await service.call('listWebhookDeliveries', { path, form: { limit: 100 } })).body.data.deliveries,
  };
}

/** Runs rounds until a condition holds. */
const afterRounds = (service: TestService, holds: () => Promise<boolean> | boolean) =>
  until(async () => {
    await service.runScheduledJobs();
    return holds();
  });

describe.each(engines)('on %s', (engine) => {
  test('a new URL gets one signed test, and no other event until it has accepted the test', async () => {
    const { service, receiver, added, webhook, deliveries, buyVm, sendTest } = await startWithWebhook({ engine }, fail);
    expect(added.confirmed).toBe(false);
    for (let vm = 0; vm < 2; vm++) await buyVm();
    await afterRounds(service, async () => (await webhook()).failing_since !== null);
    await service.runScheduledJobs();
    expect(typesOf(receiver)).toEqual(['webhook.test']);
    expect(await deliveries()).toMatchObject([
      { type: 'vm.created', status: 'pending', attempts: 0 },
      { type: 'vm.created', status: 'pending', attempts: 0 },
      { type: 'webhook.test', status: 'pending', attempts: 1, delivery_id: 1 },
    ]);
    expect(await webhook()).toMatchObject({ enabled: true, confirmed: false });

    receiver.respond = accept;
    expect((await sendTest()).body.data).toEqual({ delivery_id: 1 });
    await afterRounds(service, () => receiver.got.length === 4);
    expect(typesOf(receiver)).toEqual(['webhook.test', 'webhook.test', 'vm.created', 'vm.created']);
    const [first, second] = receiver.got;
    expect([second?.id, second?.body]).toEqual([first?.id, first?.body]);
    const { body, headers } = lastOf(receiver);
    expect(new Verifier(added.signing_secret).verify(body, headers)).toMatchObject({ type: 'vm.created' });
    expect(await webhook()).toMatchObject({ confirmed: true, failing_since: null });
    expect((await sendTest()).body.data).toEqual({ delivery_id: 4 });
  });

  test('another URL is asked again, and the late answer of the former one says nothing about it', async () => {
    let answer = () => {};
    const { service, receiver, edit, webhook, buyVm } = await startWithWebhook({ engine }, (got, response) => {
      answer = () => accept(got, response);
    });
    const other = await startReceiver(fail);
    await afterRounds(service, () => receiver.got.length === 1);
    expect((await edit({ url: other.url })).body.data).toMatchObject({ confirmed: false });
    await buyVm();
    await afterRounds(service, () => other.got.length === 1);
    answer();
    await afterRounds(service, async () => (await webhook()).failing_since !== null);
    expect(await webhook()).toMatchObject({ confirmed: false });
    expect([typesOf(receiver), typesOf(other)]).toEqual([['webhook.test'], ['webhook.test']]);
    other.respond = accept;
    service.clock.advance(5_000);
    await afterRounds(service, () => other.got.length === 3);
    expect(typesOf(other)).toEqual(['webhook.test', 'webhook.test', 'vm.created']);
    expect(receiver.got).toHaveLength(1);
  });

  test('a confirmed webhook stays confirmed by an edit of anything but its URL', async () => {
    const { service, receiver, edit, webhook } = await startWithWebhook({ engine }, accept);
    await afterRounds(service, async () => (await webhook()).confirmed);
    for (const form of [{ description: 'panel' }, { url: receiver.url }, { events: 'vm.created' }, { enabled: false }, { enabled: true }])
      expect({ form, confirmed: (await edit(form)).body.data.confirmed }).toEqual({ form, confirmed: true });
    expect((await edit({ url: `${receiver.url}/other` })).body.data.confirmed).toBe(false);
    await afterRounds(service, async () => (await webhook()).confirmed);
    expect(typesOf(receiver)).toEqual(['webhook.test', 'webhook.test']);
  });

  test('a webhook that was added or got its URL while it is disabled is asked when it is enabled', async () => {
    const { service, receiver, edit, deliveries, webhook, buyVm } = await startWithWebhook({ engine }, accept, { enabled: false });
    await buyVm();
    await edit({ url: `${receiver.url}/other` });
    await service.runScheduledJobs();
    expect([(await deliveries()).length, receiver.got]).toEqual([1, []]);
    await edit({ enabled: true });
    await afterRounds(service, async () => (await webhook()).confirmed && receiver.got.length === 2);
    expect(typesOf(receiver)).toEqual(['webhook.test', 'vm.created']);
  });

  test('a test is not held up by an earlier event about the webhook', async () => {
    const { service, receiver, edit, webhook } = await startWithWebhook({ engine }, accept);
    await afterRounds(service, async () => (await webhook()).confirmed);
    receiver.respond = gone;
    await service.call('createVm', { form: SMALL_VM });
    await afterRounds(service, async () => !(await webhook()).enabled);
    await service.runScheduledJobs();
    receiver.respond = accept;
    const before = receiver.got.length;
    await edit({ url: `${receiver.url}/other`, enabled: true });
    await afterRounds(service, () => receiver.got.length === before + 3);
    const [first, ...others] = typesOf(receiver).slice(before);
    expect([first, others.toSorted()]).toEqual(['webhook.test', ['vm.created', 'webhook.disabled']]);
  });

  test('a URL that accepts no test in 11 attempts is disabled, and gets the same test when it is enabled', async () => {
    const { service, receiver, edit, webhook, buyVm } = await startWithWebhook({ engine }, fail);
    await buyVm();
    let seen = 0;
    await afterRounds(service, async () => {
      // Not before the attempt of the day, so that the days that events are kept do not pass.
      if (receiver.got.length > seen) service.clock.advance(24 * HOUR);
      seen = receiver.got.length;
      return !(await webhook()).enabled;
    });
    expect(new Set(typesOf(receiver))).toEqual(new Set(['webhook.test']));
    receiver.respond = accept;
    const before = receiver.got.length;
    await edit({ enabled: true });
    await afterRounds(service, () => receiver.got.length === before + 3);
    const [first, ...others] = typesOf(receiver).slice(before);
    expect([first, others.toSorted()]).toEqual(['webhook.test', ['vm.created', 'webhook.disabled']]);
    expect(receiver.got[before]?.id).toBe(receiver.got[0]?.id);
  });

  test('an event is not added for an unconfirmed URL once as many wait as may, and stays in the feed', async () => {
    const { service, receiver, webhook, deliveries, buyVm, sendTest } = await startWithWebhook({ engine }, fail);
    await afterRounds(service, async () => (await webhook()).failing_since !== null);
    await fillQueue(service, MAX_WAITING - 2);
    const newest = async () => (await deliveries())[0].delivery_id;
    for (let vm = 0; vm < 2; vm++) {
      await buyVm();
      await service.runScheduledJobs();
      expect(await newest()).toBe(MAX_WAITING);
    }
    const { events } = (await service.call('listEvents', { form: { type: 'vm.created' } })).body.data;
    expect(events).toHaveLength(2);
    expect((await sendTest()).body.data).toEqual({ delivery_id: 1 });
    // The test of another URL is added all the same.
    const { webhook_id } = (await service.call('addWebhook', { form: { url: `${receiver.url}/other` } })).body.data;
    const others = (await service.call('listWebhookDeliveries', { path: { webhook_id } })).body.data.deliveries;
    expect(others).toMatchObject([{ delivery_id: 1, type: 'webhook.test' }]);
  });
});

/** Adds deliveries that wait for the only webhook, after those that it has. */
async function fillQueue(service: TestService, count: number): Promise<void> {
  const {
    id: webhook_id,
    account_id,
    last_delivery,
  } = await service.store.read((db) => db.selectFrom('webhooks').selectAll().executeTakeFirstOrThrow());
  const now = service.clock.now();
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  const subject = 'account';
  const events = numbers.map((number) => ({
    id: `event-${number}`,
    account_id,
    position: 1_000 + number,
    type: 'account.resumed',
    subject,
    data: '{}',
    entered: now,
  }));
  const waiting = { webhook_id, subject, state: 'pending', attempts: 0, next_attempt: now, claimed_until: 0, created: now };
  const deliveries = numbers.map((number) => ({ ...waiting, event_id: `event-${number}`, number: Number(last_delivery) + number }));
  await service.store.commit(async ({ db }) => {
    await insertMany(service.store, db, 'events', events);
    await insertMany(service.store, db, 'webhook_deliveries', deliveries);
    await db
      .updateTable('webhooks')
      .set({ last_delivery: Number(last_delivery) + count })
      .execute();
    await db
      .updateTable('event_feeds')
      .set({ last: 1_000 + count })
      .execute();
  });
}
