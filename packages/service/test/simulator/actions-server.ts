/** Operations of resellers and of the provider on dedicated servers. */
import { expect } from 'vitest';

import { completeDedicatedSetUp, orderDedicatedServer } from '../../src/core/dedicated/order.ts';
import { simulatedFleet } from '../../src/ports/simulated.ts';
import { SECRET } from '../harness.ts';
import { creditFits, holdOfOrder, holdOfRenewals, iso } from './model-billing.ts';
import { completeServerSetUp, settleModel } from './model-jobs.ts';
import type { FleetSetUps } from './model-jobs.ts';
import type { ModelAccount, ModelServer } from './model.ts';
import { runProviderOperation } from './provider-operations.ts';
import { noCredit, notFound, send, wrongState } from './requests.ts';
import type { Prediction, Refused } from './requests.ts';
import { offerServer } from './simulation.ts';
import type { Simulation } from './simulation.ts';

/** The simulation offers a new server if the market has fewer than this. */
const MIN_OFFERED = 2;
/** The maximum number of servers in a simulation. */
const MAX_SERVERS = 24;

export async function orderServer(sim: Simulation): Promise<void> {
  const { dice, model, clock, world, client } = sim;
  const offered = model.servers.filter(({ state }) => state === 'offered');
  if (offered.length < MIN_OFFERED && model.servers.length < MAX_SERVERS) await offerServer(sim);
  const server = dice.chance(0.8) ? dice.pickAny(offered) : dice.pickAny(model.servers);
  if (!server) return;
  const account = dice.pick(model.accounts);
  settleModel(sim, account);
  sim.describe(`the provider orders the ${server.state} server ${server.id} for ${account.name}`);
  const act = () =>
    client
      .store()
      .commit(({ db }) =>
        orderDedicatedServer(db, { ports: world.ports, secret: SECRET }, { identifier: server.id, accountId: account.id }),
      );
  if (await runProviderOperation(sim, act, orderRefusal(sim, server, account)))
    applyServerOrder(server, account, clock.seconds(), world.fleet);
}

function orderRefusal({ model, clock }: Simulation, server: ModelServer, account: ModelAccount): Refused | undefined {
  if (server.state === 'ended') return notFound;
  if (server.state !== 'offered') return wrongState;
  return creditFits(model, account, holdOfOrder(server, clock.seconds()), clock.seconds()) ? undefined : noCredit;
}

export function applyServerOrder(server: ModelServer, account: ModelAccount, now: number, { automaticSetUp }: FleetSetUps): void {
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
    return sim.describe(`set-ups complete ${world.fleet.automaticSetUp ? 'automatically' : 'by hand'} from now on`);
  }
  const ordered = model.servers.filter(({ state }) => state === 'ordered');
  const server = dice.chance(0.85) ? (dice.pickAny(ordered) ?? dice.pick(model.servers)) : dice.pick(model.servers);
  sim.describe(`the provider completes the set-up of the ${server.state} server ${server.id}`);
  const access = { dashboard: 'https://dashboard.example/1', username: 'admin', email: 'admin@dashboard.example', password: 'by-hand' };
  const act = () =>
    client.store().commit(({ db }) => completeDedicatedSetUp(db, { ports: world.ports, secret: SECRET }, server.id, access));
  const refusal = server.state === 'ended' || server.state === 'offered' ? notFound : server.state === 'ordered' ? undefined : wrongState;
  if (await runProviderOperation(sim, act, refusal)) completeServerSetUp(model, server, clock.seconds());
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
      predict: () =>
        predictCancellation(sim, server, true, (data) =>
          expect(data).toEqual({ identifier: server.id, termination_date: iso(server.due ?? 0) }),
        ),
    });
  }
  return send(sim, {
    account,
    id,
    sent: { path },
    predict: () =>
      predictCancellation(sim, server, false, (data) => expect(data).toEqual({ identifier: server.id, renew_date: iso(server.due ?? 0) })),
  });
}

function predictCancellation<Id extends 'deleteDedicatedServer' | 'undeleteDedicatedServer'>(
  sim: Simulation,
  server: ModelServer,
  terminated: boolean,
  check: (data: unknown) => void,
): Prediction<Id> {
  const { account } = server;
  if (!account) throw new Error('The server does not have an account.');
  const isAllowed = server.state === 'deployed' && server.terminated !== terminated;
  const needed = terminated ? 0n : holdOfRenewals(server, sim.clock.seconds());
  const hasCredit = creditFits(sim.model, account, needed, sim.clock.seconds());
  return {
    portUse: 'no port',
    refusal: server.state === 'ended' ? notFound : !isAllowed ? wrongState : hasCredit ? undefined : noCredit,
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
