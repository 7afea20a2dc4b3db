import { holdAllRenewals } from '../core/accounting/renewal-hold.ts';
import { passwordContext } from '../core/dedicated/life-cycle.ts';
import { addMarketServer, orderDedicatedServer } from '../core/dedicated/order.ts';
import type { NewMarketServer } from '../core/dedicated/order.ts';
import { findServer } from '../core/dedicated/server.ts';
import type { Services } from '../delivery/runtime.ts';
import { simulatedAccess } from '../ports/simulated.ts';
import { seal } from '../rules/credentials.ts';
import { endOfRuntime } from '../rules/dedicated.ts';
import type { Db, Store } from '../store/store.ts';
import { demoServers } from './market.ts';
import { addDemoSamples } from './seed-demo-samples.ts';
import { DEMO_ACCOUNT } from './seed-sandbox.ts';

/** Age of the first runtime of the demo account's deployed servers. */
const RUNTIME_AGE_SECONDS = 10 * 86_400;

/**
 * Adds the resources of the examples to the demo account: dedicated servers (one deployed, one cancelled, one that is being set up), a VM
 * with the open invoice of the previous period, a handle and domains. A store that has them stays unchanged. The first runtimes of the
 * deployed servers are already paid. Their renewals and the set-up are charged when they are due.
 */
export function seedDemoAccount(store: Store, services: Services): Promise<void> {
  return store.commit(async ({ db }) => {
    if (!(await findServer(db, demoServers.deployed.identifier))) await fillDemoAccount(db, services);
  });
}

/** Like `seedDemoAccount`, for an account without resources. */
export async function fillDemoAccount(db: Db, services: Services): Promise<void> {
  const { ports } = services;
  await addDemoSamples(db, services, DEMO_ACCOUNT);
  await addDeployedServer(db, services, demoServers.deployed);
  await addDeployedServer(db, services, demoServers.cancelled, { terminated: 1 });
  const identifier = await addMarketServer(db, ports, demoServers.ordered);
  await orderDedicatedServer(db, services, { identifier, accountId: DEMO_ACCOUNT });
  await holdAllRenewals(db, DEMO_ACCOUNT);
}

async function addDeployedServer(
  db: Db,
  { ports, secret }: Services,
  server: NewMarketServer,
  { terminated }: { terminated: 0 | 1 } = { terminated: 0 },
): Promise<void> {
  const identifier = await addMarketServer(db, ports, server);
  const begun = Math.floor(ports.clock.now() / 1000) - RUNTIME_AGE_SECONDS;
  const { password, ...access } = simulatedAccess(identifier, ports.random);
  await db
    .updateTable('dedicated_servers')
    .set({
      ...access,
      account_id: DEMO_ACCOUNT,
      state: 'deployed',
      terminated,
      due: endOfRuntime(begun, server.runtimeDays),
      sealed_password: seal(password, secret, passwordContext(identifier), ports.random),
      ordered: begun,
      deployed: begun,
    })
    .where('id', '=', identifier)
    .execute();
}
