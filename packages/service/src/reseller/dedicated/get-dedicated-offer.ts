import { vatAt } from '../../core/accounting/account-vat.ts';
import { addressesOfServers, toMarketItem } from '../../core/dedicated/responses.ts';
import { findServer, isOfferedTo } from '../../core/dedicated/server.ts';
import { notFound } from '../../rules/refusal.ts';
import type { ReadOperation } from '../operation.ts';

/** GET /dedicated/available/{identifier}: one offer of the market. */
export const getDedicatedOffer: ReadOperation<'getDedicatedOffer'> = {
  kind: 'read',
  settles: true,
  async run(db, { accountId, path, now }) {
    const server = await findServer(db, path.identifier);
    if (server && isOfferedTo(server, accountId)) {
      const addresses = (await addressesOfServers(db, [server])).get(server.id) ?? { ipv4: [], ipv6: [] };
      const data = toMarketItem(server, addresses, await vatAt(db, accountId, now));
      return { message: 'The dedicated server is available.', data: { available: true, data } };
    }
    if (server?.account_id !== accountId || server.state === 'ended') throw notFound('dedicated server');
    return { message: 'The dedicated server is not available.', data: { available: false, data: null } };
  },
};
