/** The provider's operations on dedicated servers, for tests. */
import { completeDedicatedSetUp, orderDedicatedServer } from '../src/core/dedicated/order.ts';
import type { ServerAccess } from '../src/index.ts';
import { sandboxMarket } from '../src/sandbox/market.ts';
import { SECRET } from './harness.ts';
import type { TestService } from './harness.ts';

/** Of the sandbox's market: two EPYC, 149.00 EUR for 30 days. */
export const EPYC = identifierOf(0);
/** Of the sandbox's market: 89.00 EUR for 30 days. */
export const RYZEN = identifierOf(1);
/** Of the sandbox's market: 59.00 EUR for 30 days. */
export const XEON = identifierOf(2);

/** Access that a provider gives when it completes a set-up by hand. */
export const ACCESS: ServerAccess = {
  dashboard: 'https://dashboard.example/servers/7',
  username: 'server-7',
  email: 'server-7@dashboard.example',
  password: 'correct-horse-battery-staple',
};

/** An offer of a server, as an operator adds it to the market. @param price EUR for the runtime. */
export function marketItem(price: string, days = 30) {
  return {
    datacenter: { name: 'FRA1', displayname: 'Frankfurt 1', country: 'Germany', city: 'Frankfurt am Main' },
    cpu: { amount: 1, cores: 8, type: 'Xeon' },
    memory: { size: 64, type: 'DDR4' },
    disks: [{ amount: 2, size: 960, type: 'SSD' }],
    ipv4_addresses: 0,
    ipv6_networks: null,
    traffic: null,
    connection: '1 Gbit/s',
    status: { type: 'ready', description: 'At once.' },
    price,
    runtime_days: days,
  };
}

/** Orders a server of the market for an account. */
export function orderServer({ store, ports }: TestService, identifier: string, accountId: string): Promise<void> {
  return store.commit(({ db }) => orderDedicatedServer(db, { ports, secret: SECRET }, { identifier, accountId }));
}

/** Completes a set-up by hand. */
export function completeSetUp({ store, ports }: TestService, identifier: string, access: ServerAccess = ACCESS): Promise<void> {
  return store.commit(({ db }) => completeDedicatedSetUp(db, { ports, secret: SECRET }, identifier, access));
}

/** An account with a server that is deployed at the current time. */
export async function deployedServer(
  service: TestService,
  identifier: string = RYZEN,
): Promise<{ readonly id: string; readonly apiKey: string }> {
  const account = await service.account();
  await orderServer(service, identifier, account.id);
  await completeSetUp(service, identifier);
  return account;
}

function identifierOf(place: number): string {
  const identifier = sandboxMarket[place]?.identifier;
  if (identifier === undefined) throw new Error(`The sandbox's market has no identifier at the place ${place}.`);
  return identifier;
}
