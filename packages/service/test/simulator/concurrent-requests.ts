/** Requests that are sent without waiting for one another. The model follows their outcomes. */
import { expect } from 'vitest';

import { orderDedicatedServer } from '../../src/core/dedicated/order.ts';
import { InfrastructureError } from '../../src/delivery/deliver.ts';
import { Refusal } from '../../src/rules/refusal.ts';
import { SECRET } from '../harness.ts';
import { TAKEN } from '../ports/registrar.ts';
import { domainFormOf, domainPrice, reserveDomain, someRegistration } from './actions-domain.ts';
import { serverOrdered } from './actions-server.ts';
import { changing, priceAfter, resizing, someChange, vmChanged, vmResized } from './actions-vm.ts';
import type { VmChange } from './actions-vm.ts';
import { units } from './fraction.ts';
import { holdFrom } from './model-billing.ts';
import { listedAt, priceOf } from './model-prices.ts';
import type { ModelAccount, ModelServer, ModelVm } from './model.ts';
import { formOf, reserveVm } from './purchases.ts';
import type { PurchaseRequest } from './purchases.ts';
import type { Simulation } from './simulation.ts';

/** The outcome of a request. A request without a response when the service died has none. */
export interface Outcome {
  readonly status: number;
  readonly errorType: string | null;
  readonly text: string;
}

export interface ConcurrentRequest {
  readonly text: string;
  readonly account: ModelAccount | undefined;
  /** The most that it may hold of the credit limit, in units. */
  readonly mostHold: bigint;
  /** The purchase, where it is one of a VM. */
  readonly purchase?: PurchaseRequest;
  /** Requests that may not both be done: for the same name, server, or Idempotency-Key. */
  readonly rivalry?: string;
  /** Whether it is the provider's, and asks a port. */
  readonly asksPort?: boolean;
  /** Requests that give something back are followed first. */
  readonly order: number;
  outcome: Outcome | undefined;
  fire(): Promise<Outcome>;
  /** The model follows a request that was done. */
  follow(): Promise<void>;
}

const done: Outcome = { status: 200, errorType: null, text: '' };

/** The outcome of what the provider does. */
async function outcomeOf(act: () => Promise<unknown>): Promise<Outcome> {
  try {
    await act();
    return done;
  } catch (error) {
    if (error instanceof InfrastructureError) return { status: 500, errorType: 'hypervisor', text: error.message };
    if (!(error instanceof Refusal)) throw error;
    return { status: error.status, errorType: error.type, text: error.message };
  }
}

/** A VM is bought; with a key, more than once. */
export function concurrentPurchases(sim: Simulation, purchase: PurchaseRequest, times: number): ConcurrentRequest[] {
  const key = times > 1 ? `burst-${sim.dice.integer(0, 2 ** 40)}` : undefined;
  return Array.from({ length: times }, () => concurrentPurchase(sim, purchase, key));
}

function concurrentPurchase(sim: Simulation, purchase: PurchaseRequest, key: string | undefined): ConcurrentRequest {
  const { account, host, resources } = purchase;
  const now = sim.clock.seconds();
  const listed = listedAt(sim.model, host.name, sim.clock.now());
  let identifier: number | undefined;
  const request: ConcurrentRequest = {
    text: `createVm of ${account.name} on ${host.name}${key === undefined ? '' : ` with ${key}`}`,
    account,
    purchase,
    mostHold: holdFrom(priceOf(listed, resources), now),
    order: 2,
    ...(key !== undefined && { rivalry: key }),
    outcome: undefined,
    async fire() {
      const reply = await sim.client.call(account, 'createVm', { form: formOf(purchase), key });
      if (reply.status === 200) identifier = reply.data().identifier;
      return reply;
    },
    async follow() {
      if (identifier === undefined) return;
      const bought = identifier;
      // Of repetitions with one key, the one that was carried out is followed.
      if (sim.model.vms.some(({ id }) => id === bought)) return;
      const row = await sim.client
        .store()
        .read((db) => db.selectFrom('vms').select('sale_id').where('id', '=', bought).executeTakeFirstOrThrow());
      const sale = sim.model.sales.find(({ id }) => id === row.sale_id);
      expect(sale?.id ?? null).toBe(row.sale_id);
      const price = priceOf(listed, resources, sale?.prices.get(host.name));
      const order = sim.world.hypervisor.orders.get(bought);
      const terms = { sale, listed, price, hold: holdFrom(price, now), since: now };
      const { data } = JSON.parse(request.outcome?.text ?? '');
      reserveVm(sim, purchase, terms, order, false).confirm({ status: 200, text: '', message: '', errorType: null, data: () => data });
    },
  };
  return request;
}

/** Several accounts want the same domain. */
export function concurrentRegistrations(sim: Simulation, count: number): ConcurrentRequest[] {
  const first = someRegistration(sim);
  if (!first) return [];
  const registrations = Array.from({ length: count }, () => someRegistration(sim)).flatMap((registration) =>
    registration ? [{ ...registration, name: first.name, tld: first.tld }] : [],
  );
  return registrations.map((registration): ConcurrentRequest => {
    const { account, name } = registration;
    return {
      text: `registerDomain of ${name} by ${account.name}`,
      account,
      mostHold: units(domainPrice(registration)),
      rivalry: name,
      order: 2,
      outcome: undefined,
      fire: () => sim.client.call(account, 'registerDomain', { form: domainFormOf(registration) }),
      async follow() {
        expect(name.startsWith(TAKEN) && registration.authcode === undefined, `${name} is another provider's`).toBe(false);
        expect(sim.model.domains.has(name), `${name} was already registered`).toBe(false);
        reserveDomain(sim, registration).confirm();
      },
    };
  });
}

/** The same server is ordered for several accounts. */
export function concurrentOrders(sim: Simulation, server: ModelServer): ConcurrentRequest[] {
  const { model, world, client, clock } = sim;
  return model.accounts.map((account) => ({
    text: `the server ${server.id} is ordered for ${account.name}`,
    account,
    mostHold: units(server.price),
    rivalry: server.id,
    order: 2,
    outcome: undefined,
    fire: () =>
      outcomeOf(() =>
        client
          .store()
          .commit(({ db }) =>
            orderDedicatedServer(db, { ports: world.ports, secret: SECRET }, { identifier: server.id, accountId: account.id }),
          ),
      ),
    async follow() {
      expect(server.state).toBe('offered');
      serverOrdered(server, account, clock.seconds(), world.fleet);
    },
  }));
}

/** The provider, or the account that has it, stops, starts or removes a VM. */
export function concurrentChange(sim: Simulation, vm: ModelVm): ConcurrentRequest {
  const does = sim.dice.pick<VmChange>(vm.state === 'running' ? ['stop', 'remove'] : ['start', 'remove']);
  const isByProvider = sim.dice.chance(0.5);
  return {
    text: `${isByProvider ? 'the provider' : vm.account.name} has the VM ${vm.id} ${does}`,
    account: vm.account,
    mostHold: does === 'start' ? holdFrom(vm.price, sim.clock.seconds()) : 0n,
    order: 0,
    asksPort: does === 'start',
    outcome: undefined,
    fire: () => (isByProvider ? outcomeOf(changing(sim, vm, does)) : changedByAccount(sim, vm, does)),
    follow: async () => vmChanged(sim, vm, does, isByProvider),
  };
}

function changedByAccount({ client }: Simulation, { account, id }: ModelVm, does: VmChange): Promise<Outcome> {
  const path = { vmid: String(id) };
  return does === 'remove'
    ? client.call(account, 'deleteVm', { path })
    : client.call(account, 'setVmPower', { path, form: { mode: does } });
}

/** The provider resizes a VM. */
export function concurrentResize(sim: Simulation, vm: ModelVm): ConcurrentRequest {
  const change = someChange(sim.dice, vm);
  const to = { ...vm.resources, ...change };
  const { price, listed } = priceAfter(sim, vm, to);
  return {
    text: `the provider resizes the VM ${vm.id}: ${JSON.stringify(change)}`,
    account: vm.account,
    mostHold: holdFrom(price, sim.clock.seconds()),
    order: to.ips < vm.resources.ips ? 0 : 1,
    asksPort: true,
    outcome: undefined,
    fire: () => outcomeOf(resizing(sim, vm, change, false)),
    follow: () => vmResized(sim, vm, { to, price, listed }, false, false),
  };
}

/** A reseller reads, which changes nothing but closes periods that are over. */
export function concurrentRead(sim: Simulation, account: ModelAccount): ConcurrentRequest {
  const id = sim.dice.pick(['getCurrentInvoice', 'listInvoices', 'listSales'] as const);
  return {
    text: `${account.name} reads: ${id}`,
    account,
    mostHold: 0n,
    order: 3,
    outcome: undefined,
    fire: () => sim.client.call(account, id),
    follow: async () => {},
  };
}

/** The timed work is done, by one of several processes. */
export function concurrentJobs(sim: Simulation): ConcurrentRequest {
  return {
    text: 'what is due is done',
    account: undefined,
    mostHold: 0n,
    order: 3,
    outcome: undefined,
    fire: () => outcomeOf(() => sim.client.service().runScheduledJobs()),
    follow: async () => {},
  };
}
