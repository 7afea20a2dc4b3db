import { passwordContext } from '../operations/dedicated/runtime.ts';
import type { RuntimeParts } from '../operations/dedicated/runtime.ts';
import { findServer } from '../operations/dedicated/server.ts';
import { simulatedAccess } from '../ports/fleet.ts';
import { seal } from '../rules/credentials.ts';
import { endOfRuntime } from '../rules/dedicated.ts';
import type { Db, Store } from '../store/store.ts';
import { addMarketServer, orderDedicatedServer } from './dedicated.ts';
import { demoServers } from './sandbox-market.ts';
import { DEMO_ACCOUNT } from './seed-sandbox.ts';

/** How long ago, in seconds, the demo account's deployed server began its runtime: ten days. */
const DEPLOYED_BEFORE = 10 * 86_400;

/**
 * Gives the demo account a deployed server and one that is being set up; a store that had them is
 * left as it is. The running runtime of the first was paid before the sandbox began, so that a new
 * sandbox owes nothing; its renewals and the other server's set-up are charged when they come.
 */
export function seedDemoServers(store: Store, parts: RuntimeParts): Promise<void> {
  return store.commit(async ({ db }) => {
    if (!(await findServer(db, demoServers.deployed.identifier))) await addDemoServers(db, parts);
  });
}

/** As `seedDemoServers`, where the demo account has none yet. */
export async function addDemoServers(db: Db, parts: RuntimeParts): Promise<void> {
  const { ports, secret } = parts;
  const { deployed, ordered } = demoServers;
  const identifier = await addMarketServer(db, ports, deployed);
  const begun = Math.floor(ports.clock.now() / 1000) - DEPLOYED_BEFORE;
  const { password, ...access } = simulatedAccess(identifier, ports.random);
  await db
    .updateTable('dedicated_servers')
    .set({
      ...access,
      account_id: DEMO_ACCOUNT,
      state: 'deployed',
      due: endOfRuntime(begun, deployed.runtimeDays),
      sealed_password: seal(password, secret, passwordContext(identifier), ports.random),
      ordered: begun,
      deployed: begun,
    })
    .where('id', '=', identifier)
    .execute();
  await orderDedicatedServer(db, parts, { identifier: await addMarketServer(db, ports, ordered), accountId: DEMO_ACCOUNT });
}
