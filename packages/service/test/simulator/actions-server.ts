/** What resellers and the provider do with dedicated servers. */
import { expect } from 'vitest';

import { completeDedicatedSetUp, orderDedicatedServer } from '../../src/core/dedicated/order.ts';
import { simulatedFleet } from '../../src/ports/fleet.ts';
import { SECRET } from '../harness.ts';
import { noCredit, notFound, send, wrongState } from './delivery.ts';
import type { Prospect, Refused } from './delivery.ts';
import { units } from './fraction.ts';
import { creditFits, iso } from './model-billing.ts';
import { deploy, settleModel } from './model-due.ts';
import type { FleetSetUps } from './model-due.ts';
import type { ModelAccount, ModelServer } from './model.ts';
import { tryProvider } from './provider-act.ts';
import type { Simulation } from './simulation.ts';

/** Servers on the market, at least; more come only up to a number. */
const OFFERED = 2;
const MOST = 24;

export async function orderServer(sim: Simulation): Promise<void> {
  const { dice, model, clock, world, client } = sim;
  const offered = model.servers.filter(({ state }) => state === 'offered');
  if (offered.length < OFFERED && model.servers.length < MOST) await sim.offer();
  const server = dice.chance(0.8) ? dice.pickAny(offered) : dice.pickAny(model.servers);
  if (!server) return;
  const account = dice.pick(model.accounts);
  settleModel(sim, account);
  sim.say(`the provider orders the ${server.state} server ${server.id} for ${account.name}`);
  const act = () =>
    client
      .store()
      .commit(({ db }) =>
        orderDedicatedServer(db, { ports: world.ports, secret: SECRET }, { identifier: server.id, accountId: account.id }),
      );
  if (await tryProvider(sim, act, orderRefusal(sim, server, account))) serverOrdered(server, account, clock.seconds(), world.fleet);
}

function orderRefusal({ model, clock }: Simulation, { state, price }: ModelServer, account: ModelAccount): Refused | undefined {
  if (state === 'ended') return notFound;
  if (state !== 'offered') return wrongState;
  return creditFits(model, account, units(price), clock.seconds()) ? undefined : noCredit;
}

export function serverOrdered(server: ModelServer, account: ModelAccount, now: number, { automaticSetUp }: FleetSetUps): void {
  server.state = 'ordered';
  server.account = account;
  server.ordered = now;
  server.due = automaticSetUp ? now + automaticSetUp.after : null;
}

/** The provider completes a set-up by hand, or changes how set-ups complete. */
export async function completeSetUp(sim: Simulation): Promise<void> {
  const { dice, model, clock, world, client } = sim;
  if (dice.chance(0.3)) {
    world.fleet.automaticSetUp = world.fleet.automaticSetUp ? null : simulatedFleet().automaticSetUp;
    return sim.say(`set-ups complete ${world.fleet.automaticSetUp ? 'by themselves' : 'by hand'} from now on`);
  }
  const ordered = model.servers.filter(({ state }) => state === 'ordered');
  const server = dice.chance(0.85) ? (dice.pickAny(ordered) ?? dice.pick(model.servers)) : dice.pick(model.servers);
  sim.say(`the provider completes the set-up of the ${server.state} server ${server.id}`);
  const access = { dashboard: 'https://dashboard.example/1', username: 'admin', email: 'admin@dashboard.example', password: 'by-hand' };
  const act = () =>
    client.store().commit(({ db }) => completeDedicatedSetUp(db, { ports: world.ports, secret: SECRET }, server.id, access));
  const refusal = server.state === 'ended' || server.state === 'offered' ? notFound : server.state === 'ordered' ? undefined : wrongState;
  if (await tryProvider(sim, act, refusal)) deploy(model, server, clock.seconds());
}

/** A reseller cancels a server, or withdraws its cancellation. */
export async function cancelServer(sim: Simulation): Promise<void> {
  const { dice, model } = sim;
  const had = model.servers.filter(({ state }) => state !== 'offered');
  const server = dice.pickAny(had);
  if (!server?.account) return orderServer(sim);
  const id = dice.pick(['deleteDedicatedServer', 'undeleteDedicatedServer'] as const);
  const { account } = server;
  const path = { identifier: server.id };
  if (id === 'deleteDedicatedServer') {
    return send(sim, {
      account,
      id,
      sent: { path },
      prospect: () =>
        changing(sim, server, true, (data) => expect(data).toEqual({ identifier: server.id, termination_date: iso(server.due ?? 0) })),
    });
  }
  return send(sim, {
    account,
    id,
    sent: { path },
    prospect: () =>
      changing(sim, server, false, (data) => expect(data).toEqual({ identifier: server.id, renew_date: iso(server.due ?? 0) })),
  });
}

function changing<Id extends 'deleteDedicatedServer' | 'undeleteDedicatedServer'>(
  sim: Simulation,
  server: ModelServer,
  terminated: boolean,
  check: (data: unknown) => void,
): Prospect<Id> {
  const { account } = server;
  if (!account) throw new Error('A server that is nobody’s cannot be cancelled.');
  const isAllowed = server.state === 'deployed' && server.terminated !== terminated;
  return {
    asks: 'no port',
    refusal: server.state === 'ended' ? notFound : isAllowed ? undefined : wrongState,
    reserve: () => ({
      release: () => {},
      confirm(reply) {
        settleModel(sim, account);
        check(reply.data());
        server.terminated = terminated;
      },
    }),
  };
}
