import { vatAt } from '../../core/accounting/account-vat.ts';
import { addressesOfServers, toMarketItem } from '../../core/dedicated/responses.ts';
import type { ReadOperation } from '../operation.ts';

/** GET /dedicated/available: the servers on the market that are offered to the account, in the order in which they were added. */
export const listDedicatedMarket: ReadOperation<'listDedicatedMarket'> = {
  kind: 'read',
  settles: false,
  async run(db, { accountId, now }) {
    const servers = await db
      .selectFrom('dedicated_servers')
      .selectAll()
      .where('state', '=', 'offered')
      .where((server) => server.or([server('offered_to', 'is', null), server('offered_to', '=', accountId)]))
      .orderBy('created')
      .orderBy('id')
      .execute();
    const vat = await vatAt(db, accountId, now);
    const addresses = await addressesOfServers(db, servers);
    const list = servers.map((server) => toMarketItem(server, addresses.get(server.id) ?? { ipv4: [], ipv6: [] }, vat));
    return { message: 'The available dedicated servers were listed.', data: { list } };
  },
};
