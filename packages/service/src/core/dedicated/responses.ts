/** Dedicated servers as answers show them. */

import type {
  DedicatedDatacenter,
  DedicatedIps,
  DedicatedManagement,
  DedicatedMarketHardware,
  DedicatedMarketItem,
  DedicatedNetwork,
  DedicatedPrice,
  DedicatedServer,
} from '@reseller/client';

import { isoInstant } from '../../rules/billing.ts';
import { unseal } from '../../rules/credentials.ts';
import { numberOf, roundToCents } from '../../rules/money.ts';
import { grossOf } from '../../rules/vat.ts';
import type { Db } from '../../store/store.ts';
import { passwordContext } from './life-cycle.ts';
import { stateOf } from './server.ts';
import type { ServerRow } from './server.ts';

/** The addresses of servers, by identifier. */
export async function addressesOf(db: Db, servers: readonly ServerRow[]): Promise<ReadonlyMap<string, DedicatedIps>> {
  const found = new Map<string, DedicatedIps>(servers.map(({ id }) => [id, { ipv4: [], ipv6: [] }]));
  if (servers.length === 0) return found;
  const rows = await db
    .selectFrom('dedicated_addresses')
    .select(['server_id', 'family', 'address', 'gateway'])
    .where('server_id', 'in', [...found.keys()])
    .orderBy('server_id')
    .orderBy('family')
    .orderBy('position')
    .execute();
  for (const { server_id, family, address, gateway } of rows)
    found.get(server_id)?.[family === 4 ? 'ipv4' : 'ipv6'].push({ address, gateway });
  return found;
}

/**
 * A server as its list and its info show it. One of the market has no addresses, no management
 * and no renewal yet.
 *
 * @param shown `secret`: known to the service alone, its management password was encrypted with it. `vat`: hundredths of a percent.
 */
export function toDedicatedServer(server: ServerRow, ips: DedicatedIps, shown: { secret: string; vat: number }): DedicatedServer {
  const { secret, vat } = shown;
  const state = stateOf(server);
  const { cpu, ...hardware } = hardwareOf(server);
  return {
    identifier: server.id,
    deployed: state.phase === 'deployed',
    accounting: {
      price: priceOf(server, vat),
      runtime: { amount: server.runtime_days, unit: 'days' },
      renew: state.phase === 'deployed' ? isoInstant(state.renew) : null,
      terminated: state.phase === 'deployed' && state.terminated,
    },
    management: state.phase === 'deployed' ? managementOf(server, secret) : null,
    datacenter: datacenterOf(server),
    hardware: { cpu: { cores: cpu.cores, type: cpu.type }, ...hardware },
    ips: state.phase === 'offered' ? { ipv4: [], ipv6: [] } : ips,
    network: networkOf(server),
  };
}

/**
 * A server as the market shows it: how many addresses it has, and not which.
 *
 * @param vat Hundredths of a percent.
 */
export function toMarketItem(server: ServerRow, ips: DedicatedIps, vat: number): DedicatedMarketItem {
  const { ipv4, ipv6 } = offeredIps(server, ips);
  return {
    identifier: server.id,
    datacenter: datacenterOf(server),
    hardware: hardwareOf(server),
    ips: {
      ipv4: { included: ipv4 > 0, amount: ipv4 },
      ipv6: { included: ipv6 !== 0, amount: ipv6 === 0 ? null : ipv6 },
    },
    network: networkOf(server),
    status: { type: server.status_type, description: server.status_description },
    price: { ...priceOf(server, vat), runtime: { amount: server.runtime_days, unit: 'days' } },
  };
}

/** How many addresses a server of the market comes with; null for IPv6 networks without a number. */
export function offeredIps({ offered_ips }: ServerRow, ips: DedicatedIps): { readonly ipv4: number; readonly ipv6: number | null } {
  if (offered_ips === null) return { ipv4: ips.ipv4.length, ipv6: ips.ipv6.length };
  const parsed: { ipv4: number; ipv6: number | null } = JSON.parse(offered_ips);
  return parsed;
}

function priceOf({ price }: ServerRow, vat: number): DedicatedPrice {
  const net = BigInt(price);
  return { net: numberOf(roundToCents(net)), gross: numberOf(roundToCents(grossOf(net, vat))) };
}

function managementOf({ id, dashboard, username, email, sealed_password }: ServerRow, secret: string): DedicatedManagement {
  const password = sealed_password === null ? undefined : unseal(sealed_password, secret, passwordContext(id));
  if (dashboard === null || username === null || email === null || password === undefined) {
    throw new Error(`The management access of the dedicated server ${id} is missing or was encrypted with another secret.`);
  }
  return { dashboard, username, email, password };
}

export function datacenterOf(server: ServerRow): DedicatedDatacenter {
  return {
    name: server.datacenter_name,
    displayname: server.datacenter_displayname,
    country: server.datacenter_country,
    city: server.datacenter_city,
  };
}

export function hardwareOf({ hardware }: ServerRow): DedicatedMarketHardware {
  const parsed: DedicatedMarketHardware = JSON.parse(hardware);
  return parsed;
}

export function networkOf({ network }: ServerRow): DedicatedNetwork {
  const parsed: DedicatedNetwork = JSON.parse(network);
  return parsed;
}
