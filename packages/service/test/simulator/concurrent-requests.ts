/** The requests that a concurrent step can send, and the effect of each on the model. */
import { expect } from 'vitest';

import { orderDedicatedServer } from '../../src/core/dedicated/order.ts';
import { InfrastructureError } from '../../src/delivery/deliver.ts';
import { Refusal } from '../../src/rules/refusal.ts';
import { SECRET } from '../harness.ts';
import { TAKEN } from '../ports/registrar.ts';
import { domainFormOf, domainPrice, reserveDomain, randomRegistration } from './actions-domain.ts';
import { applyServerOrder } from './actions-server.ts';
import { changeOperation, priceWith, resizeOperation, randomChange, applyVmChange, applyResize } from './actions-vm.ts';
import type { VmChange } from './actions-vm.ts';
import { units } from './fraction.ts';
import { holdFrom, holdOfOrder } from './model-billing.ts';
import { listedAt, priceOf } from './model-prices.ts';
import type { ModelAccount, ModelServer, ModelVm } from './model.ts';
import { formOf, reserveVm } from './purchases.ts';
import type { PurchaseRequest } from './purchases.ts';
import type { Simulation } from './simulation.ts';

/** The outcome of a request. */
export interface Outcome {
  readonly status: number;
  readonly errorType: string | null;
  readonly text: string;
}

export interface ConcurrentRequest {
  readonly text: string;
  readonly account: ModelAccount | undefined;
  /** The most credit that it can hold, in units of 10^-8 EUR. */
  readonly maxHold: bigint;
  /** Only for the purchase of a VM. */
  readonly purchase?: PurchaseRequest;
  /** The domain, server or Idempotency-Key that only one request can have. */
  readonly conflict?: string;
  /** Whether the provider sends it and it calls a port. */
  readonly callsPort?: boolean;
  /** The model applies requests with a lower number first: 0 frees resources, 1 changes them, 2 buys, 3 only reads. */
  readonly order: number;
  /** Undefined if the service crashed before it responded. */
  outcome: Outcome | undefined;
  send(): Promise<Outcome>;
  /** Applies the request to the model after it has succeeded. */
  applyToModel(): Promise<void>;
}

const done: Outcome = { status: 200, errorType: null, text: '' };

/** The outcome of an operation of the provider. */
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

/** Sends the same purchase of a VM one or more times. Repeated requests have the same Idempotency-Key. */
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
    maxHold: holdFrom(priceOf(listed, resources), now),
    order: 2,
    ...(key !== undefined && { conflict: key }),
    outcome: undefined,
    async send() {
      const reply = await sim.client.call(account, 'createVm', { form: formOf(purchase), key });
      if (reply.status === 200) identifier = reply.data().identifier;
      return reply;
    },
    async applyToModel() {
      if (identifier === undefined) return;
      const bought = identifier;
      // Repeated requests with one key bought one VM, and the model has it already.
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

/** Several registrations of the same domain. */
export function concurrentRegistrations(sim: Simulation, count: number): ConcurrentRequest[] {
  const first = randomRegistration(sim);
  if (!first) return [];
  const registrations = Array.from({ length: count }, () => randomRegistration(sim)).flatMap((registration) =>
    registration ? [{ ...registration, name: first.name, tld: first.tld }] : [],
  );
  return registrations.map((registration): ConcurrentRequest => {
    const { account, name } = registration;
    return {
      text: `registerDomain of ${name} by ${account.name}`,
      account,
      maxHold: units(domainPrice(registration)),
      conflict: name,
      order: 2,
      outcome: undefined,
      send: () => sim.client.call(account, 'registerDomain', { form: domainFormOf(registration) }),
      async applyToModel() {
        expect(name.startsWith(TAKEN) && registration.authcode === undefined, `${name} is registered with another provider`).toBe(false);
        expect(sim.model.domains.has(name), `${name} was already registered`).toBe(false);
        reserveDomain(sim, registration).confirm();
      },
    };
  });
}

/** The provider orders the same server for each account. */
export function concurrentOrders(sim: Simulation, server: ModelServer): ConcurrentRequest[] {
  const { model, world, client, clock } = sim;
  return model.accounts.map((account) => ({
    text: `the provider orders the server ${server.id} for ${account.name}`,
    account,
    maxHold: holdOfOrder(server, sim.clock.seconds()),
    conflict: server.id,
    order: 2,
    outcome: undefined,
    send: () =>
      outcomeOf(() =>
        client
          .store()
          .commit(({ db }) =>
            orderDedicatedServer(db, { ports: world.ports, secret: SECRET }, { identifier: server.id, accountId: account.id }),
          ),
      ),
    async applyToModel() {
      expect(server.state).toBe('offered');
      applyServerOrder(server, account, clock.seconds(), world.fleet);
    },
  }));
}

/** The provider or the account stops, starts or removes a VM. */
export function concurrentChange(sim: Simulation, vm: ModelVm): ConcurrentRequest {
  const action = sim.dice.pick<VmChange>(vm.state === 'running' ? ['stop', 'remove'] : ['start', 'remove']);
  const isByProvider = sim.dice.chance(0.5);
  return {
    text: `${isByProvider ? 'the provider' : vm.account.name}: ${action} VM ${vm.id}`,
    account: vm.account,
    maxHold: action === 'start' ? holdFrom(vm.price, sim.clock.seconds()) : 0n,
    order: 0,
    callsPort: action === 'start',
    outcome: undefined,
    send: () => (isByProvider ? outcomeOf(changeOperation(sim, vm, action)) : changedByAccount(sim, vm, action)),
    applyToModel: async () => applyVmChange(sim, vm, action, isByProvider),
  };
}

function changedByAccount({ client }: Simulation, { account, id }: ModelVm, action: VmChange): Promise<Outcome> {
  const path = { vmid: String(id) };
  return action === 'remove'
    ? client.call(account, 'deleteVm', { path })
    : client.call(account, 'setVmPower', { path, form: { mode: action } });
}

/** The provider resizes a VM. */
export function concurrentResize(sim: Simulation, vm: ModelVm): ConcurrentRequest {
  const change = randomChange(sim.dice, vm);
  const to = { ...vm.resources, ...change };
  const { price, listed } = priceWith(sim, vm, to);
  return {
    text: `the provider resizes the VM ${vm.id}: ${JSON.stringify(change)}`,
    account: vm.account,
    maxHold: holdFrom(price, sim.clock.seconds()),
    order: to.ips < vm.resources.ips ? 0 : 1,
    callsPort: true,
    outcome: undefined,
    send: () => outcomeOf(resizeOperation(sim, vm, change, false)),
    applyToModel: () => applyResize(sim, vm, { to, price, listed }, false, false),
  };
}

/** An account reads its invoices or the sales. This closes periods that have ended and changes nothing else. */
export function concurrentRead(sim: Simulation, account: ModelAccount): ConcurrentRequest {
  const id = sim.dice.pick(['getCurrentInvoice', 'listInvoices', 'listSales'] as const);
  return {
    text: `${account.name} reads: ${id}`,
    account,
    maxHold: 0n,
    order: 3,
    outcome: undefined,
    send: () => sim.client.call(account, id),
    applyToModel: async () => {},
  };
}

/** An instance runs the scheduled jobs. */
export function concurrentJobs(sim: Simulation): ConcurrentRequest {
  return {
    text: 'scheduled jobs',
    account: undefined,
    maxHold: 0n,
    order: 3,
    outcome: undefined,
    send: () => outcomeOf(() => sim.client.service().runScheduledJobs()),
    applyToModel: async () => {},
  };
}
