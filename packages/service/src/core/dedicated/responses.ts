/** Responses about dedicated servers. */
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

import { unseal } from '../../rules/credentials.ts';
import type { Secrets } from '../../rules/credentials.ts';
import { secondsToInstant } from '../../rules/instants.ts';
import { numberOf } from '../../rules/money.ts';
import { grossOf } from '../../rules/vat.ts';
import type { Db } from '../../store/store.ts';
import { passwordContext } from './life-cycle.ts';
import { stateOf } from './server.ts';
import type { ServerRow } from './server.ts';

/** The addresses of servers, by identifier. */
export async function addressesOfServers(db: Db, servers: readonly ServerRow[]): Promise<ReadonlyMap<string, DedicatedIps>> {
  const addresses = new Map<string, DedicatedIps>(servers.map(({ id }) => [id, { ipv4: [], ipv6: [] }]));
  if (servers.length === 0) return addresses;
  const rows = await db
    .selectFrom('dedicated_addresses')
    .select(['server_id', 'family', 'address', 'gateway'])
    .where('server_id', 'in', [...addresses.keys()])
    .orderBy('server_id')
    .orderBy('family')
    .orderBy('position')
    .execute();
  for (const { server_id, family, address, gateway } of rows)
    addresses.get(server_id)?.[family === 4 ? 'ipv4' : 'ipv6'].push({ address, gateway });
  return addresses;
}

/**
 * A server in the list and the details. A server on the market has no addresses, no management and no renewal date.
 *
 * @param options `secrets` decrypt the management password. `vat` is in hundredths of a percent.
 */
export function toDedicatedServer(server: ServerRow, ips: DedicatedIps, options: { secrets: Secrets; vat: number }): DedicatedServer {
  const { secrets, vat } = options;
  const state = stateOf(server);
  const { cpu, ...hardware } = hardwareOf(server);
  return {
    identifier: server.id,
    deployed: state.phase === 'deployed',
    accounting: {
      price: toDedicatedPrice(server, vat),
      runtime: { amount: server.runtime_days, unit: 'days' },
      renew: state.phase === 'deployed' ? secondsToInstant(state.renew) : null,
      terminated: state.phase === 'deployed' && state.terminated,
    },
    management: state.phase === 'deployed' ? managementOf(server, secrets) : null,
    datacenter: datacenterOf(server),
    hardware: { cpu: { cores: cpu.cores, type: cpu.type }, ...hardware },
    ips: state.phase === 'offered' ? { ipv4: [], ipv6: [] } : ips,
    network: networkOfServer(server),
  };
}

/**
 * A server on the market, with the number of its addresses.
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
    network: networkOfServer(server),
    status: { type: server.status_type, description: server.status_description },
    price: { ...toDedicatedPrice(server, vat), runtime: { amount: server.runtime_days, unit: 'days' } },
  };
}

/** The number of addresses of a server on the market. Null for an unspecified number of IPv6 networks. */
export function offeredIps({ offered_ips }: ServerRow, ips: DedicatedIps): { readonly ipv4: number; readonly ipv6: number | null } {
  if (offered_ips === null) return { ipv4: ips.ipv4.length, ipv6: ips.ipv6.length };
  const parsed: { ipv4: number; ipv6: number | null } = JSON.parse(offered_ips);
  return parsed;
}

function toDedicatedPrice({ price }: ServerRow, vat: number): DedicatedPrice {
  const net = BigInt(price);
  return { net: numberOf(net), gross: numberOf(grossOf(net, vat)) };
}

function managementOf({ id, dashboard, username, email, sealed_password }: ServerRow, secrets: Secrets): DedicatedManagement {
  const password = sealed_password === null ? undefined : unseal(sealed_password, secrets, passwordContext(id));
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

export function networkOfServer({ network }: ServerRow): DedicatedNetwork {
  const parsed: DedicatedNetwork = JSON.parse(network);
  return parsed;
}
