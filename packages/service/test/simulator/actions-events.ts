/** Resellers follow their events, and manage webhooks. The events must agree with the model. */
import { expect } from 'vitest';

import { checkBilling } from './api-checks.ts';
import { remove } from './model.ts';
import type { ModelAccount, ModelWebhook } from './model.ts';
import { notFound, send, wrongState } from './requests.ts';
import type { Simulation } from './simulation.ts';

/** The data of a VM, domain or server in an event. */
type Known = Readonly<Record<string, unknown>>;

/** A reader of a feed: the things that exist, by the subjects of their events. */
export interface ModelReader {
  /** Undefined before the first page, and when its cursor has expired. */
  cursor: string | undefined;
  known: Map<string, Known>;
}

/** Events after which their subject no longer exists. */
const ENDS: ReadonlySet<string> = new Set([
  'vm.deleted',
  'domain.deleted',
  'domain.transferred',
  'domain.failed',
  'dedicated.ended',
  'dedicated.failed',
]);

export async function followEvents(sim: Simulation, account = sim.dice.pick(sim.model.accounts)): Promise<void> {
  // A reader of the feed sees the jobs that are done. This does those that are due.
  await checkBilling(sim, account);
  await readToEnd(sim, account);
  sim.describe(`${account.name} follows its events to ${account.reader.cursor}`);
  expect(Object.fromEntries(account.reader.known), `events of ${account.name}`).toEqual(Object.fromEntries(existing(sim, account)));
}

/** Reads the feed to its end. After more than 30 days, a reader begins again with what the lists say. */
async function readToEnd(sim: Simulation, account: ModelAccount): Promise<void> {
  const { client, dice } = sim;
  const { reader } = account;
  const limit = dice.pick([1, 7, 100]);
  if (reader.cursor === undefined) reader.known = existing(sim, account);
  for (;;) {
    const form = { limit, ...(reader.cursor !== undefined && { cursor: reader.cursor }) };
    const reply = await client.call(account, 'listEvents', { form });
    if (reply.status === 400) {
      expect(reply.message).toContain('Events after this cursor were deleted');
      reader.cursor = undefined;
      return readToEnd(sim, account);
    }
    const { events, next_cursor, has_more } = reply.data();
    for (const { type, subject, data } of events) {
      const isThing = /^(?:vm|domain|dedicated)\.[a-z]+$/.test(type);
      if (ENDS.has(type)) reader.known.delete(subject);
      else if (isThing) reader.known.set(subject, shown(data));
    }
    reader.cursor = next_cursor;
    if (!has_more) return;
  }
}

/** The values of an event that the model has, too. */
function shown({ vmid, status, cores, mem, disk, domain, handle, terminated, expire, identifier, deployed, renew }: Known): Known {
  if (vmid !== undefined) return { vmid, status, cores, mem, disk };
  if (domain !== undefined) return { domain, handle, terminated, expire };
  return { identifier, deployed, terminated, renew };
}

function existing({ model }: Simulation, account: ModelAccount): Map<string, Known> {
  const vms = model.vms.filter((vm) => vm.account === account && vm.state !== 'removed');
  const domains = [...model.domains.values()].filter((domain) => domain.account === account && domain.state !== 'reserved');
  const servers = model.servers.filter(({ account: owner, state }) => owner === account && (state === 'ordered' || state === 'deployed'));
  return new Map<string, Known>([
    ...vms.map(({ id, state, resources: { cores, mem, disk } }) => [`vm/${id}`, { vmid: id, status: state, cores, mem, disk }] as const),
    ...domains.map(({ name, handle, terminated, expires }) => {
      const expire = new Date(expires * 1_000).toISOString().slice(0, 19).replace('T', ' ');
      return [`domain/${name}`, { domain: name, handle, terminated, expire }] as const;
    }),
    ...servers.map(({ id, state, terminated, due }) => {
      const deployed = state === 'deployed';
      const renew = deployed && due !== null ? new Date(due * 1_000).toISOString() : null;
      return [`dedicated/${id}`, { identifier: id, deployed, terminated, renew }] as const;
    }),
  ]);
}

/** Disabled webhooks, so that nothing is sent and the seed decides everything. */
export async function changeWebhooks(sim: Simulation): Promise<void> {
  const { dice, model, client } = sim;
  const account = dice.pick(model.accounts);
  await expectWebhooks(sim, account);
  const webhook = dice.pickAny((dice.chance(0.8) ? account : dice.pick(model.accounts)).webhooks);
  if (!webhook || dice.chance(0.3)) return addWebhook(sim, account);
  const refusal = account.webhooks.includes(webhook) ? undefined : notFound;
  const path = { webhook_id: webhook.id };
  const plain = { account, sent: { path } };
  if (dice.chance(0.3)) {
    const description = `note ${dice.integer(1, 99)}`;
    return send(sim, {
      account,
      id: 'editWebhook',
      sent: { path, form: { description } },
      predict: () => ({ portUse: 'no port', refusal, reserve: () => confirmed(() => void (webhook.description = description)) }),
    });
  }
  if (dice.chance(0.4))
    return send(sim, {
      ...plain,
      id: 'removeWebhook',
      predict: () => ({ portUse: 'no port', refusal, reserve: () => confirmed(() => remove(account.webhooks, webhook)) }),
    });
  if (dice.chance(0.5))
    return send(sim, {
      ...plain,
      id: 'rotateWebhookSecret',
      predict: () => ({ portUse: 'no port', refusal, reserve: () => confirmed(() => {}) }),
    });
  await client.call(account, 'listEvents');
  return send(sim, {
    ...plain,
    id: 'testWebhook',
    predict: () => ({ portUse: 'no port', refusal: refusal ?? wrongState, reserve: () => confirmed(() => {}) }),
  });
}

function confirmed(confirm: () => void) {
  return { release: () => {}, confirm };
}

function addWebhook(sim: Simulation, account: ModelAccount): Promise<void> {
  const url = `https://panel${sim.dice.integer(1, 9)}.reseller-customer.invalid/`;
  const events = sim.dice.pick(['*', 'vm.created,vm.deleted', 'invoice.issued']);
  return send(sim, {
    account,
    id: 'addWebhook',
    sent: { form: { url, events, enabled: false } },
    otherForm: { url, events, enabled: false, description: 'another' },
    predict: () => ({
      portUse: 'no port',
      refusal: account.webhooks.length >= 10 ? { status: 409, type: 'quota_exceeded' } : undefined,
      reserve: () => ({
        release: () => {},
        confirm: (reply) => void account.webhooks.push({ id: reply.data().webhook_id, url, events, description: '' }),
      }),
    }),
  });
}

/** Lists the webhooks, and the deliveries of one, which wait in the order of the feed. */
async function expectWebhooks({ client, dice }: Simulation, account: ModelAccount): Promise<void> {
  const { list } = (await client.call(account, 'listWebhooks')).data();
  expect(
    list.map(({ webhook_id, url, events, description, enabled }) => ({
      id: webhook_id,
      url,
      events: events.join(','),
      description,
      enabled,
    })),
    `webhooks of ${account.name}`,
    // Those of the same millisecond are in the order of their identifiers.
  ).toEqual(account.webhooks.toSorted((one, other) => (one.id < other.id ? -1 : 1)).map((webhook) => ({ ...webhook, enabled: false })));
  const webhook: ModelWebhook | undefined = dice.pickAny(account.webhooks);
  if (!webhook) return;
  const path = { webhook_id: webhook.id };
  const { deliveries } = (await client.call(account, 'listWebhookDeliveries', { path, form: { limit: 100 } })).data();
  for (const [index, { status, attempts, type, delivery_id }] of deliveries.entries()) {
    expect([status, attempts]).toEqual(['pending', 0]);
    expect(webhook.events === '*' || webhook.events.split(',').includes(type)).toBe(true);
    if (index > 0) expect(delivery_id).toBeLessThan(deliveries[index - 1]?.delivery_id ?? 0);
  }
}
