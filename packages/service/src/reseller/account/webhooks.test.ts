import { sql } from 'kysely';
import { Webhook as Verifier } from 'standardwebhooks';
import { describe, expect, test, vi } from 'vitest';
import type { TestOptions } from 'vitest';

import { engines } from '../../../test/engines.ts';
import { SMALL_VM, startService } from '../../../test/harness.ts';
import type { TestService } from '../../../test/harness.ts';
import { insertMany } from '../../../test/insert-many.ts';
import { accept, addConfirmed, fail, lastOf, startReceiver } from '../../../test/webhook-receiver.ts';
import type { Respond } from '../../../test/webhook-receiver.ts';
import { MAX_WEBHOOKS } from '../../core/events/change-webhook.ts';
import { eventsToReplay } from '../../core/events/deliveries.ts';

/** Less than the longest wait between two attempts, in milliseconds. */
const HALF_DAY = 12 * 3_600_000;

const edit = (service: TestService, webhook_id: string, form: Readonly<Record<string, unknown>>) =>
  service.call('editWebhook', { path: { webhook_id }, form });
const tested = async (service: TestService, webhook_id: string) =>
  (await service.call('testWebhook', { path: { webhook_id } })).body.data.delivery_id;
const deliveries = async (service: TestService, webhook_id: string) =>
  (await service.call('listWebhookDeliveries', { path: { webhook_id }, form: { limit: 100 } })).body.data.deliveries;
const only = async (service: TestService) => (await service.call('listWebhooks')).body.data.list[0];

/** Runs rounds until a condition holds. */
const until = (service: TestService, holds: () => Promise<void> | void) =>
  expect
    .poll(async () => {
      await service.runScheduledJobs();
      try {
        await holds();
        return 'holds';
      } catch (error) {
        return String(error);
      }
    })
    .toBe('holds');

async function buyVm(service: TestService): Promise<string> {
  return String((await service.call('createVm', { form: SMALL_VM })).body.data.identifier);
}

const power = (service: TestService, vmid: string, mode: string) => service.call('setVmPower', { path: { vmid }, form: { mode } });

describe.each(engines)('on %s', (engine) => {
  // A usual run lets the hours pass on one engine.
  const costly: TestOptions = { tags: engine === 'sqlite' ? [] : 'deep' };

  test('a change is delivered with a signature that the library of Standard Webhooks accepts', async () => {
    const [service, receiver] = await Promise.all([startService({ engine }), startReceiver()]);
    const { signing_secret, webhook_id } = await addConfirmed(service, { url: receiver.url });
    const vmid = await buyVm(service);
    await until(service, () => expect(receiver.got).toHaveLength(1));
    const { body, headers, event, id } = lastOf(receiver);
    expect(new Verifier(signing_secret).verify(body, headers)).toEqual(event);
    expect(event).toMatchObject({
      id,
      type: 'vm.created',
      subject: `vm/${vmid}`,
      data: { vmid: Number(vmid), status: 'running', cores: SMALL_VM.cores },
    });
    const { events } = (await service.call('listEvents', { form: {} })).body.data;
    expect(events).toEqual([event]);
    await until(service, async () =>
      expect(await deliveries(service, webhook_id)).toMatchObject([
        { delivery_id: 1, event_id: id, status: 'delivered', attempts: 1, response_status: 204, error: null, next_attempt: null },
      ]),
    );
  });

  test('a failing event holds later ones of its subject, and not those of another', async () => {
    const [service, receiver] = await Promise.all([startService({ engine }), startReceiver()]);
    const [one, two] = [await buyVm(service), await buyVm(service)];
    receiver.respond = (got, response) => (got.event.subject === `vm/${one}` ? fail : accept)(got, response);
    const { webhook_id } = await addConfirmed(service, { url: receiver.url });
    for (const vmid of [one, two]) for (const mode of ['stop', 'start']) await power(service, vmid, mode);
    const of = (vmid: string) => receiver.got.filter(({ event }) => event.subject === `vm/${vmid}`).map(({ event }) => event.type);
    await until(service, () => expect(of(two)).toEqual(['vm.stopped', 'vm.started']));
    expect(of(one)).toEqual(['vm.stopped']);
    receiver.respond = accept;
    // One advance, between two attempts: a delivery is sent again if the clock passes the end of its claim during its request.
    await until(service, async () => expect((await deliveries(service, webhook_id)).at(-1)).toMatchObject({ delivery_id: 1, attempts: 1 }));
    service.clock.advance(5_000);
    await until(service, () => expect(of(one)).toEqual(['vm.stopped', 'vm.stopped', 'vm.started']));
    const [first, again] = receiver.got.filter(({ event }) => event.subject === `vm/${one}`);
    expect([again?.id, again?.body]).toEqual([first?.id, first?.body]);
  });

  test('an event that was sent and not marked is sent again with the same identifier', async () => {
    const [service, receiver] = await Promise.all([startService({ engine }), startReceiver()]);
    const { webhook_id } = await addConfirmed(service, { url: receiver.url });
    await tested(service, webhook_id);
    // As if the instance had died between the response and the commit.
    receiver.respond = (_got, response) => {
      const taken = { claim: 'of a dead instance', claimed_until: service.clock.now() + 60_000 };
      void service.store
        .commit(({ db }) => db.updateTable('webhook_deliveries').set(taken).execute())
        .then(() => response.writeHead(204).end());
    };
    await until(service, () => expect(receiver.got).toHaveLength(1));
    receiver.respond = accept;
    await until(service, async () => expect((await deliveries(service, webhook_id))[0].status).toBe('pending'));
    expect(receiver.got).toHaveLength(1);
    service.clock.advance(60_000);
    await until(service, async () => expect((await deliveries(service, webhook_id))[0].status).toBe('delivered'));
    expect(receiver.got.map(({ id }) => id)).toEqual([receiver.got[0]?.id, receiver.got[0]?.id]);
  });

  test('a webhook that fails 11 times is disabled, and gets everything in order when it is enabled', costly, async () => {
    const [service, receiver] = await Promise.all([startService({ engine }), startReceiver(fail)]);
    const { webhook_id } = await addConfirmed(service, { url: receiver.url, events: 'vm.stopped,vm.started' });
    const vmid = await buyVm(service);
    await power(service, vmid, 'stop');
    await until(service, async () => expect((await only(service)).failing_since).not.toBeNull());
    const begun = service.clock.now();
    await power(service, vmid, 'start');
    await until(service, async () => {
      if ((await deliveries(service, webhook_id)).some(({ attempts }: { attempts: number }) => attempts > 9)) return;
      service.clock.advance(HALF_DAY);
      expect((await only(service)).enabled).toBe(false);
    });
    await until(service, async () => {
      service.clock.advance(HALF_DAY);
      expect((await only(service)).enabled).toBe(false);
    });
    expect(service.clock.now() - begun).toBeGreaterThanOrEqual(72 * 3_600_000);
    expect((await only(service)).disabled_reason).toBe('Nothing arrived at the URL, to which an event was sent 11 times.');
    const { events } = (await service.call('listEvents', { form: {} })).body.data;
    expect(events.at(-1)).toMatchObject({ type: 'webhook.disabled', subject: `webhook/${webhook_id}` });
    expect((await service.call('testWebhook', { path: { webhook_id } })).body.type).toBe('wrong_state');
    receiver.respond = accept;
    const before = receiver.got.length;
    expect((await edit(service, webhook_id, { enabled: true })).body.data).toMatchObject({ disabled_reason: null, failing_since: null });
    await until(service, () => expect(receiver.got.slice(before).map(({ event }) => event.type)).toEqual(['vm.stopped', 'vm.started']));
  });

  test('an event is given up after 11 attempts if others arrive, and is replayed', costly, async () => {
    const [service, receiver] = await Promise.all([startService({ engine }), startReceiver()]);
    receiver.respond = (got, response) => (got.event.type === 'vm.stopped' ? fail : accept)(got, response);
    const { webhook_id } = await addConfirmed(service, { url: receiver.url, events: 'vm.stopped,vm.started,webhook.test' });
    const vmid = await buyVm(service);
    await power(service, vmid, 'stop');
    await power(service, vmid, 'start');
    await until(service, async () => {
      service.clock.advance(HALF_DAY);
      await tested(service, webhook_id);
      expect((await deliveries(service, webhook_id)).find(({ delivery_id }: { delivery_id: number }) => delivery_id === 1).status).toBe(
        'failed',
      );
    });
    // Once more if the clock has leapt over the end of an attempt that was being sent.
    await until(service, () => expect(receiver.got.some(({ event }) => event.type === 'vm.started')).toBe(true));
    expect((await only(service)).enabled).toBe(true);
    receiver.respond = accept;
    const sentBefore = receiver.got.length;
    const path = { webhook_id, delivery_id: '1' };
    expect((await service.call('replayWebhookDelivery', { path })).status).toBe(200);
    await until(service, () => expect(receiver.got.slice(sentBefore).some(({ event }) => event.type === 'vm.stopped')).toBe(true));
  });

  test('a failing delivery is attempted after exactly the waits of the document, and given up at the eleventh attempt', async () => {
    const [service, receiver] = await Promise.all([startService({ engine }), startReceiver(fail)]);
    const { webhook_id } = await addConfirmed(service, { url: receiver.url });
    await tested(service, webhook_id);
    const begun = service.clock.now();
    const [hour, minute] = [3_600_000, 60_000];
    const waits = [5_000, minute, 5 * minute, 30 * minute, ...[2, 5, 10, 14, 20, 24].map((hours) => hours * hour)];
    for (const [index, wait] of waits.entries()) {
      await until(service, async () => expect((await deliveries(service, webhook_id))[0].attempts).toBe(index + 1));
      const [{ last_attempt, next_attempt }] = await deliveries(service, webhook_id);
      expect([Date.parse(last_attempt), Date.parse(next_attempt)]).toEqual([service.clock.now(), service.clock.now() + wait]);
      service.clock.advance(wait - 1);
      await service.runScheduledJobs();
      expect((await only(service)).enabled).toBe(true);
      service.clock.advance(1);
    }
    expect(service.clock.now() - begun).toBeGreaterThanOrEqual(72 * hour);
    await until(service, async () => expect((await only(service)).enabled).toBe(false));
    expect(receiver.got).toHaveLength(waits.length + 1);
  });

  test('a webhook that has failed once is not disabled because the clock of a sandbox passes 31 days', async () => {
    const [service, receiver] = await Promise.all([startService({ engine }), startReceiver(fail)]);
    const { webhook_id } = await addConfirmed(service, { url: receiver.url });
    await tested(service, webhook_id);
    for (let attempts = 1; attempts < 11; attempts++) {
      await until(service, async () => expect((await deliveries(service, webhook_id))[0].attempts).toBe(attempts));
      expect(await only(service)).toMatchObject({ enabled: true });
      service.clock.advance(3 * 86_400_000);
    }
    receiver.respond = accept;
    await until(service, async () => expect((await deliveries(service, webhook_id))[0].status).toBe('delivered'));
  });

  test.each([
    [1, 1],
    [4, 1],
    [4, 2],
    [6, 3],
    [199, 100],
    [10_000, 100],
  ])('replays %i events in order, each once, in steps of %i', async (count, deliveryStep) => {
    const service = await startService({ engine, tuning: { deliveryStep } });
    const { id: account_id, apiKey } = await service.account();
    const { webhook_id } = await addConfirmed(service, { url: 'http://127.0.0.1:9/' }, apiKey);
    const entered = service.clock.now();
    const event = { account_id, type: 'account.resumed', subject: 'account', data: '{}' };
    const rows = Array.from({ length: count }, (_, index) => ({
      ...event,
      id: `event-${index}`,
      position: index + 1,
      entered: entered + index,
    }));
    // One more, so that the limit is that of what is replayed.
    rows.push({ ...event, id: 'before', position: count + 1, entered: entered - 1 });
    await service.store.commit(({ db }) => insertMany(service.store, db, 'events', rows));
    const replay = { apiKey, path: { webhook_id }, form: { since: new Date(entered).toISOString() } };
    expect((await service.call('replayWebhook', replay)).body.data).toEqual({ replayed: count, last_delivery_id: count });
    expect(await service.call('replayWebhook', replay)).toMatchObject({
      status: 409,
      body: { type: 'wrong_state', message: expect.stringContaining('in progress') },
    });
    await service.runScheduledJobs();
    // Each event waits once.
    expect((await service.call('replayWebhook', replay)).body.data).toEqual({ replayed: 0, last_delivery_id: count });
    const sent = await service.store.read((db) =>
      db.selectFrom('webhook_deliveries').select(['number', 'event_id']).orderBy('number').execute(),
    );
    expect(sent).toEqual(Array.from({ length: count }, (_, index) => ({ number: index + 1, event_id: `event-${index}` })));
  });

  test('looks up by its key whether an event waits, also as planned for a short table', async () => {
    const service = await startService({ engine });
    const { webhook_id } = await addConfirmed(service, { url: 'http://127.0.0.1:9/' });
    const plan = await service.store.read(async (db) => {
      const webhook = await db.selectFrom('webhooks').selectAll().where('id', '=', webhook_id).executeTakeFirstOrThrow();
      return eventsToReplay(db, webhook)
        .select('id')
        .explain(undefined, engine === 'sqlite' ? sql`query plan` : undefined);
    });
    expect(JSON.stringify(plan)).toMatch(/waiting_deliveries.*webhook_id ?=.* AND \(?event_id ?=/);
  });

  test('replays what came into the feed since an instant, in order, and none before it', async () => {
    const [service, receiver] = await Promise.all([startService({ engine }), startReceiver()]);
    const vmid = await buyVm(service);
    await service.runScheduledJobs();
    service.clock.advance(1_000);
    const since = new Date(service.clock.now()).toISOString();
    for (const mode of ['stop', 'start', 'stop']) await power(service, vmid, mode);
    await service.runScheduledJobs();
    const { webhook_id } = await addConfirmed(service, { url: receiver.url });
    const { body } = await service.call('replayWebhook', { path: { webhook_id }, form: { since } });
    expect(body.data).toEqual({ replayed: 3, last_delivery_id: 3 });
    await until(service, () => expect(receiver.got.map(({ event }) => event.type)).toEqual(['vm.stopped', 'vm.started', 'vm.stopped']));
  });

  test('a webhook that is removed during a delivery leaves nothing, and its event stays in the feed', async () => {
    const service = await startService({ engine });
    const receiver = await startReceiver((_got, response) => {
      void service.call('removeWebhook', { path: { webhook_id } }).then(() => response.writeHead(500).end());
    });
    const { webhook_id } = await addConfirmed(service, { url: receiver.url });
    await buyVm(service);
    await until(service, async () => expect((await service.call('listWebhooks')).body.data.list).toEqual([]));
    await service.runScheduledJobs();
    await service.close();
    expect(await service.store.read((db) => db.selectFrom('webhook_deliveries').selectAll().execute())).toEqual([]);
  });

  test('two instances send each event once, and in the order of its subject', async () => {
    const place = await startService({ engine });
    const receiver = await startReceiver();
    if (engine === 'sqlite') return;
    await addConfirmed(place, { url: receiver.url });
    const vmid = await buyVm(place);
    for (const mode of ['stop', 'start', 'stop', 'start']) await power(place, vmid, mode);
    await until(place, () => expect(receiver.got).toHaveLength(5));
    expect(receiver.got.map(({ event }) => event.type)).toEqual(['vm.created', 'vm.stopped', 'vm.started', 'vm.stopped', 'vm.started']);
  });

  test('an account can have 10 webhooks, also when requests race for the last place', async () => {
    const service = await startService({ engine });
    const form = { url: 'https://panel.reseller-customer.invalid/' };
    for (let count = 1; count < MAX_WEBHOOKS; count++) expect((await service.call('addWebhook', { form })).status).toBe(200);
    const last = await Promise.all([1, 2].map(() => service.call('addWebhook', { form })));
    expect(last.map(({ status, body }) => [status, body.type]).toSorted()).toEqual([
      [200, undefined],
      [409, 'quota_exceeded'],
    ]);
  });
});

test('one webhook that hangs delays no other, and no job round', async () => {
  // Nothing ends the request that hangs, so a round that waited for it would not end either.
  vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => new AbortController().signal);
  const [service, slow, quick] = await Promise.all([startService(), startReceiver(() => {}), startReceiver()]);
  await addConfirmed(service, { url: slow.url });
  await addConfirmed(service, { url: quick.url });
  const vmid = await buyVm(service);
  await until(service, () => expect(slow.got).toHaveLength(1));
  await power(service, vmid, 'stop');
  await service.runScheduledJobs();
  await until(service, () => expect(quick.got).toHaveLength(2));
  expect(slow.got).toHaveLength(1);
});

test.each<[string, Respond, string | null, string]>([
  ['410', (_got, response) => void response.writeHead(410).end(), 'the response was 410', 'pending'],
  [
    'a redirect',
    (_got, response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    'the response was 302, and redirects are not followed',
    'pending',
  ],
  ['a huge body', (_got, response) => void response.writeHead(200).end('x'.repeat(20_000_000)), null, 'delivered'],
  ['a broken connection', (_got, response) => void response.destroy(), 'socket hang up', 'pending'],
])('judges a response: %s', async (_what, respond, error, status) => {
  const [service, receiver] = await Promise.all([startService(), startReceiver(respond)]);
  const { webhook_id } = await addConfirmed(service, { url: receiver.url });
  await tested(service, webhook_id);
  const first = async () => (await deliveries(service, webhook_id)).at(-1);
  await until(service, async () => expect((await first()).attempts).toBe(1));
  expect(await first()).toMatchObject({ error, status });
  expect((await only(service)).disabled_reason).toBe(
    error === 'the response was 410' ? 'The URL responded with 410, which says that it wants no more events.' : null,
  );
});

test('a body that drips counts by its status, at the end of the time', { tags: 'deep' }, async () => {
  const [service, receiver] = await Promise.all([
    startService(),
    startReceiver((_got, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write('x'), 500);
      response.on('close', () => clearInterval(timer));
    }),
  ]);
  const { webhook_id } = await addConfirmed(service, { url: receiver.url });
  await tested(service, webhook_id);
  await until(service, () => expect(receiver.got).toHaveLength(1));
  await expect.poll(async () => (await deliveries(service, webhook_id))[0]).toMatchObject({ status: 'delivered', response_status: 200 });
  expect((await deliveries(service, webhook_id))[0].duration_ms).toBeGreaterThanOrEqual(14_900);
});

test('an event that was not sent yet is sent although the clock passes the days that events are kept', async () => {
  const [service, receiver] = await Promise.all([startService(), startReceiver()]);
  await addConfirmed(service, { url: receiver.url });
  await buyVm(service);
  expect((await service.call('listEvents', { form: {} })).body.data.events).toHaveLength(1);
  service.clock.advance(31 * 86_400_000);
  await until(service, () => expect(receiver.got.map(({ event }) => event.type)).toContain('vm.created'));
});

test('an event that only a disabled webhook has not received is deleted when its days have passed', async () => {
  const [service, receiver] = await Promise.all([startService(), startReceiver(fail)]);
  const { webhook_id } = await addConfirmed(service, { url: receiver.url });
  await buyVm(service);
  await until(service, async () => expect((await deliveries(service, webhook_id))[0]).toMatchObject({ attempts: 1, status: 'pending' }));
  await edit(service, webhook_id, { enabled: 'false' });
  service.clock.advance(31 * 86_400_000);
  const types = async () =>
    (await service.call('listEvents', { form: {} })).body.data.events.map(({ type }: { readonly type: string }) => type);
  await until(service, async () => expect(await types()).not.toContain('vm.created'));
});

test('a replay of a pending delivery makes its next attempt now', async () => {
  const [service, receiver] = await Promise.all([startService(), startReceiver(fail)]);
  const { webhook_id } = await addConfirmed(service, { url: receiver.url });
  const delivery_id = await tested(service, webhook_id);
  await until(service, async () => expect((await deliveries(service, webhook_id))[0].attempts).toBe(1));
  receiver.respond = accept;
  const { body } = await service.call('replayWebhookDelivery', { path: { webhook_id, delivery_id: String(delivery_id) } });
  expect(body.data).toEqual({ delivery_id });
  await until(service, async () => expect(await deliveries(service, webhook_id)).toMatchObject([{ status: 'delivered', attempts: 2 }]));
});

test('an edit without a field changes nothing', async () => {
  const service = await startService();
  const { signing_secret: _secret, ...webhook } = await addConfirmed(service, {
    url: 'https://panel.reseller-customer.invalid/',
    events: 'vm.created',
  });
  expect((await edit(service, webhook.webhook_id, {})).body).toMatchObject({ status: 'success', data: webhook });
});

test('only an edit that enables a disabled webhook starts its deliveries again', async () => {
  const [service, receiver] = await Promise.all([startService(), startReceiver(fail)]);
  const { webhook_id } = await addConfirmed(service, { url: receiver.url });
  await tested(service, webhook_id);
  await until(service, async () => expect((await deliveries(service, webhook_id))[0].attempts).toBe(1));
  const [waiting] = await deliveries(service, webhook_id);
  for (const form of [{ description: 'one' }, { enabled: 'true' }, { enabled: 'false' }, { description: 'two' }]) {
    await edit(service, webhook_id, form);
    expect({ form, deliveries: await deliveries(service, webhook_id) }).toEqual({ form, deliveries: [waiting] });
  }
  expect(await only(service)).toMatchObject({ description: 'two', enabled: false });
  receiver.respond = accept;
  await edit(service, webhook_id, { enabled: 'true' });
  await until(service, async () => expect(await deliveries(service, webhook_id)).toMatchObject([{ status: 'delivered', attempts: 1 }]));
});

test('both secrets sign for a day after a rotation, and a third ends the first', async () => {
  const [service, receiver] = await Promise.all([startService(), startReceiver()]);
  const { webhook_id, signing_secret: first } = await addConfirmed(service, { url: receiver.url });
  const rotate = async () => (await service.call('rotateWebhookSecret', { path: { webhook_id } })).body.data;
  const { signing_secret: second, previous_valid_until } = await rotate();
  expect(previous_valid_until).toBe(new Date(service.clock.now() + 86_400_000).toISOString());
  const accepted = async () => {
    await tested(service, webhook_id);
    const count = receiver.got.length;
    await until(service, () => expect(receiver.got).toHaveLength(count + 1));
    const { body, headers } = lastOf(receiver);
    const verifies = (secret: string) => {
      try {
        return new Verifier(secret).verify(body, headers) !== undefined;
      } catch {
        return false;
      }
    };
    return [first, second].map(verifies);
  };
  expect(await accepted()).toEqual([true, true]);
  service.clock.advance(86_399_999);
  expect(await accepted()).toEqual([true, true]);
  service.clock.advance(1);
  expect(await accepted()).toEqual([false, true]);
  await rotate();
  await rotate();
  expect(await accepted()).toEqual([false, false]);
});

test('no secret of a webhook is in the store, the log, the lists or the export in clear', async () => {
  const service = await startService();
  const { signing_secret } = await addConfirmed(service, { url: 'https://panel.reseller-customer.invalid/' });
  const [log, list] = [await service.call('listRequests'), await service.call('listWebhooks')];
  expect(JSON.stringify([log.body, list.body])).not.toContain(signing_secret);
  const rows = await service.store.read((db) => sql`select * from webhook_secrets`.execute(db));
  expect(JSON.stringify(rows)).not.toContain(signing_secret.slice('whsec_'.length));
});

test.each([
  ['http://panel.reseller-customer.net/', 'must be a URL with https, or with http at this machine, such as http://127.0.0.1:8080/'],
  ['https://user:word@panel.reseller-customer.net/', 'must have no user name, password and fragment'],
  ['https://10.0.0.1/', 'must have a public address'],
  ['https://[::ffff:10.0.0.1]/', 'must have a public address'],
  ['https://169.254.169.254/latest', 'must have a public address'],
  ['https://0x0a000001/', 'must have a public address'],
])('refuses %s', async (url, message) => {
  const service = await startService();
  const { status, body } = await service.call('addWebhook', { form: { url } });
  expect([status, body.data.fields]).toMatchObject([422, [{ field: 'url', message }]]);
});

test('sends nothing to this machine, unless only this machine can call the sandbox', async () => {
  const receiver = await startReceiver();
  const service = await startService({ publicUrl: 'https://sandbox.reseller-provider.example' });
  const { status, body } = await service.call('addWebhook', { form: { url: receiver.url } });
  expect([status, body.data.fields]).toMatchObject([422, [{ message: 'must be a URL with https' }]]);
  // A name that leads to the machine is refused when it is connected.
  const { webhook_id } = await addConfirmed(service, { url: receiver.url.replace('http://127.0.0.1', 'https://localhost') });
  await tested(service, webhook_id);
  await until(service, async () =>
    expect((await deliveries(service, webhook_id))[0]).toMatchObject({ attempts: 1, error: 'localhost has no public address' }),
  );
  expect(receiver.got).toEqual([]);
});
