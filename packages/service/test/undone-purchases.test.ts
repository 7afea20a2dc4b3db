/** Each change that spends money and can be undone gives everything back: credit, the limit of the key, room, addresses and the state before. */
import { issueApiKey } from '@reseller/operator-client';
import { beforeEach, describe, expect, test } from 'vitest';

import { deliveries } from '../src/deliveries.ts';
import type { AnyDelivery } from '../src/delivery/delivery.ts';
import { handleOf, register } from './domains.ts';
import { SMALL_VM } from './harness.ts';
import type { Received } from './http-client.ts';
import { startOperator } from './operator.ts';
import type { TestOperator } from './operator.ts';
import { TestHypervisor } from './ports/hypervisor.ts';
import { PortCalls } from './ports/port-calls.ts';
import { TestRegistrar } from './ports/registrar.ts';

/** A service, and the key with a spending limit that sends the requests. */
interface Shop {
  readonly service: TestOperator;
  readonly calls: PortCalls;
  readonly apiKey: string;
}

interface Change {
  /** Prepares the change. @returns What sends its request. */
  prepare(shop: Shop): Promise<() => Promise<Received>>;
}

async function buyVm({ service, apiKey }: Shop): Promise<string> {
  return String((await service.call('createVm', { form: SMALL_VM, apiKey })).body.data.identifier);
}

/** By the names of their deliveries. */
const changes: Readonly<Record<string, Change>> = {
  createVm: {
    async prepare({ service, apiKey }) {
      return () => service.call('createVm', { form: SMALL_VM, apiKey });
    },
  },
  startVm: {
    async prepare(shop) {
      const { service, apiKey } = shop;
      const path = { vmid: await buyVm(shop) };
      await service.call('setVmPower', { path, form: { mode: 'stop' }, apiKey });
      return () => service.call('setVmPower', { path, form: { mode: 'start' }, apiKey });
    },
  },
  resizeVm: {
    async prepare(shop) {
      const { service, apiKey } = shop;
      const path = { vmid: await buyVm(shop) };
      return () => service.call('changeVm', { path, form: { cores: SMALL_VM.cores + 1, disk: SMALL_VM.disk + 10, ips: 3 }, apiKey });
    },
  },
  assignIp: {
    async prepare(shop) {
      const { service, apiKey } = shop;
      const from = await buyVm(shop);
      const to = await buyVm(shop);
      const { body } = await service.call('buyIps', { form: { vmid: from, count: 1 }, apiKey });
      await service.runScheduledJobs();
      const [{ ip_address }] = body.data.list;
      // Otherwise the first VM saves what the second one costs.
      await service.call('setVmPower', { path: { vmid: from }, form: { mode: 'stop' }, apiKey });
      return () => service.call('assignIp', { path: { ip_address }, form: { vmid: to }, apiKey });
    },
  },
  registerDomain: {
    async prepare({ service, apiKey }) {
      const handle = await handleOf(service, { apiKey, phone: '+49.6955501234' });
      return () => service.call('registerDomain', { form: { domain: 'undone-purchase.net', handle }, apiKey });
    },
  },
  undeleteDomain: {
    async prepare({ service, apiKey }) {
      await register(service, 'undeleted-again.net', apiKey);
      const path = { domain: 'undeleted-again.net' };
      await service.call('deleteDomain', { path, apiKey });
      return () => service.call('undeleteDomain', { path, apiKey });
    },
  },
};

/** Everything that a change may have taken. */
async function takenFrom({ service: { store } }: Shop) {
  return store.read(async (db) => ({
    accounts: await db.selectFrom('accounts').selectAll().orderBy('id').execute(),
    spendings: await db.selectFrom('spendings').selectAll().where('spent', '>', 0).orderBy('limit_id').orderBy('period').execute(),
    nodes: await db.selectFrom('host_nodes').selectAll().orderBy('name').execute(),
    addresses: await db.selectFrom('ip_addresses').selectAll().where('vm_id', 'is not', null).orderBy('address').execute(),
    vms: await db.selectFrom('vms').selectAll().orderBy('id').execute(),
    domains: await db.selectFrom('domains').selectAll().orderBy('name').execute(),
    positions: await db.selectFrom('positions').selectAll().orderBy('vm_id').orderBy('number').execute(),
    charges: await db.selectFrom('charges').selectAll().orderBy('id').execute(),
    reservations: await db.selectFrom('reservations').selectAll().execute(),
  }));
}

function spends({ details }: AnyDelivery): boolean {
  return 'entries' in details && typeof details.entries === 'object' && details.entries !== null && 'spending' in details.entries;
}

test('each undoable delivery that spends has a change here', () => {
  const spending = Object.values(deliveries).filter((delivery) => 'undo' in delivery && spends(delivery));
  expect(spending.map(({ name }) => name).toSorted()).toEqual(Object.keys(changes).toSorted());
});

describe.each(Object.entries(changes))('%s', (_name, { prepare }) => {
  let shop: Shop;
  beforeEach(async () => {
    const calls = new PortCalls();
    const service = await startOperator({ hypervisor: new TestHypervisor(calls), registrar: new TestRegistrar(calls) });
    const { id } = await service.account('9000.00');
    const spending_limit = { per_day: '5000.00', per_month: '5000.00', operations: null };
    const { client } = service;
    const { key } = await issueApiKey({ client, path: { account_id: id }, body: { label: 'shop', spending_limit } });
    shop = { service, calls, apiKey: key };
  });

  test.each(['fails before', 'fails after'] as const)('gives everything back if its call %s it has an effect', async (fault) => {
    const send = await prepare(shop);
    const before = await takenFrom(shop);
    shop.calls.plan = [fault];
    expect((await send()).status).toBeGreaterThanOrEqual(500);
    expect(await takenFrom(shop)).toEqual(before);
    expect((await send()).status).toBe(200);
    expect((await takenFrom(shop)).spendings).not.toEqual(before.spendings);
  });
});
