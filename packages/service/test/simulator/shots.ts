/** What is done at once in a burst: each is sent without waiting for the others, and the model follows the outcomes. */
import { expect } from 'vitest';

import { InfrastructureError } from '../../src/delivery/deliver.ts';
import { orderDedicatedServer } from '../../src/core/dedicated/order.ts';
import { Refusal } from '../../src/rules/refusal.ts';
import { domainFormOf, domainPrice, reserveDomain, someDomainWish } from './actions-domain.ts';
import { serverOrdered } from './actions-server.ts';
import { changing, priceAfter, resizing, someChange, vmChanged, vmResized } from './actions-vm.ts';
import type { VmChange } from './actions-vm.ts';
import { SECRET } from '../harness.ts';
import { TAKEN } from './faulty-ports.ts';
import { units } from './fraction.ts';
import { holdFrom, priceOf } from './model-billing.ts';
import type { ModelAccount, ModelServer, ModelVm } from './model.ts';
import { formOf, reserveVm } from './purchases.ts';
import type { Wish } from './purchases.ts';
import type { Simulation } from './simulation.ts';

/** What became of a shot; one that was not answered when the service died has none. */
export interface Outcome {
  readonly status: number;
  readonly errorType: string | null;
  readonly text: string;
}

export interface Shot {
  readonly text: string;
  readonly account: ModelAccount | undefined;
  /** What it may hold of the credit limit at the most, in units. */
  readonly mostHold: bigint;
  /** The purchase, where it is one of a VM. */
  readonly wish?: Wish;
  /** Shots that may not both be done: for the same name, server, or Idempotency-Key. */
  readonly rivalry?: string;
  /** Whether it is the provider's, and asks a port. */
  readonly asksPort?: boolean;
  /** Shots that give something back are followed first. */
  readonly order: number;
  outcome: Outcome | undefined;
  fire(): Promise<Outcome>;
  /** The model follows a shot that was done. */
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
export function purchaseShots(sim: Simulation, wish: Wish, times: number): Shot[] {
  const key = times > 1 ? `burst-${sim.dice.integer(0, 2 ** 40)}` : undefined;
  return Array.from({ length: times }, () => purchaseShot(sim, wish, key));
}

function purchaseShot(sim: Simulation, wish: Wish, key: string | undefined): Shot {
  const { account, host, resources } = wish;
  const now = sim.clock.seconds();
  let identifier: number | undefined;
  const shot: Shot = {
    text: `createVm of ${account.name} on ${host.name}${key === undefined ? '' : ` with ${key}`}`,
    account,
    wish,
    mostHold: holdFrom(priceOf(host.name, resources), now),
    order: 2,
    ...(key !== undefined && { rivalry: key }),
    outcome: undefined,
    async fire() {
      const reply = await sim.door.call(account, 'createVm', { form: formOf(wish), key });
      if (reply.status === 200) identifier = reply.data().identifier;
      return reply;
    },
    async follow() {
      if (identifier === undefined) return;
      const bought = identifier;
      // Of repetitions with one key, the one that was carried out is followed.
      if (sim.model.vms.some(({ id }) => id === bought)) return;
      const row = await sim.door
        .store()
        .read((db) => db.selectFrom('vms').select('sale_id').where('id', '=', bought).executeTakeFirstOrThrow());
      const sale = sim.model.sales.find(({ id }) => id === row.sale_id);
      expect(sale?.id ?? null).toBe(row.sale_id);
      const price = priceOf(host.name, resources, sale?.prices.get(host.name));
      const order = sim.world.hypervisor.orders.get(bought);
      const terms = { sale, price, hold: holdFrom(price, now), since: now };
      const { data } = JSON.parse(shot.outcome?.text ?? '');
      reserveVm(sim, wish, terms, order, false).confirm({ status: 200, text: '', message: '', errorType: null, data: () => data });
    },
  };
  return shot;
}

/** Several accounts want the same domain. */
export function domainShots(sim: Simulation, count: number): Shot[] {
  const first = someDomainWish(sim);
  if (!first) return [];
  const wishes = Array.from({ length: count }, () => someDomainWish(sim)).flatMap((wish) =>
    wish ? [{ ...wish, name: first.name, tld: first.tld }] : [],
  );
  return wishes.map((wish): Shot => {
    const { account, name } = wish;
    return {
      text: `registerDomain of ${name} by ${account.name}`,
      account,
      mostHold: units(domainPrice(wish)),
      rivalry: name,
      order: 2,
      outcome: undefined,
      fire: () => sim.door.call(account, 'registerDomain', { form: domainFormOf(wish) }),
      async follow() {
        expect(name.startsWith(TAKEN) && wish.authcode === undefined, `${name} is another provider's`).toBe(false);
        expect(sim.model.domains.has(name), `${name} was somebody's`).toBe(false);
        reserveDomain(sim, wish).confirm();
      },
    };
  });
}

/** The same server is ordered for several accounts. */
export function orderShots(sim: Simulation, server: ModelServer): Shot[] {
  const { model, world, door, clock } = sim;
  const { automatic } = world.fleet;
  return model.accounts.map((account) => ({
    text: `the server ${server.id} is ordered for ${account.name}`,
    account,
    mostHold: units(server.price),
    rivalry: server.id,
    order: 2,
    outcome: undefined,
    fire: () =>
      outcomeOf(() =>
        door
          .store()
          .commit(({ db }) =>
            orderDedicatedServer(db, { ports: world.ports, secret: SECRET }, { identifier: server.id, accountId: account.id }),
          ),
      ),
    async follow() {
      expect(server.state).toBe('offered');
      serverOrdered(server, account, clock.seconds(), automatic);
    },
  }));
}

/** The provider stops, starts or removes a VM. */
export function changeShot(sim: Simulation, vm: ModelVm): Shot {
  const does = sim.dice.pick<VmChange>(vm.state === 'running' ? ['stop', 'remove'] : ['start', 'remove']);
  return {
    text: `the provider has the VM ${vm.id} ${does}`,
    account: vm.account,
    mostHold: does === 'start' ? holdFrom(vm.price, sim.clock.seconds()) : 0n,
    order: 0,
    asksPort: does === 'start',
    outcome: undefined,
    fire: () => outcomeOf(changing(sim, vm, does)),
    follow: async () => vmChanged(sim, vm, does),
  };
}

/** The provider resizes a VM. */
export function resizeShot(sim: Simulation, vm: ModelVm): Shot {
  const change = someChange(sim.dice, vm);
  const to = { ...vm.resources, ...change };
  const price = priceAfter(vm, to);
  return {
    text: `the provider resizes the VM ${vm.id}: ${JSON.stringify(change)}`,
    account: vm.account,
    mostHold: holdFrom(price, sim.clock.seconds()),
    order: to.ips < vm.resources.ips ? 0 : 1,
    asksPort: true,
    outcome: undefined,
    fire: () => outcomeOf(resizing(sim, vm, change, false)),
    follow: () => vmResized(sim, vm, to, false, false),
  };
}

/** A reseller reads, which changes nothing but closes periods that are over. */
export function readShot(sim: Simulation, account: ModelAccount): Shot {
  const id = sim.dice.pick(['getCurrentInvoice', 'listInvoices', 'listSales'] as const);
  return {
    text: `${account.name} reads: ${id}`,
    account,
    mostHold: 0n,
    order: 3,
    outcome: undefined,
    fire: () => sim.door.call(account, id),
    follow: async () => {},
  };
}

/** The timed work is done, by one of several processes. */
export function dueWorkShot(sim: Simulation): Shot {
  return {
    text: 'what is due is done',
    account: undefined,
    mostHold: 0n,
    order: 3,
    outcome: undefined,
    fire: () => outcomeOf(() => sim.door.service().runScheduledJobs()),
    follow: async () => {},
  };
}
