import { vatAt } from '../../core/accounting/account-vat.ts';
import { addressesOfServers, toDedicatedServer } from '../../core/dedicated/responses.ts';
import type { ReadOperation } from '../operation.ts';

/** GET /dedicated/list: the account's servers, the oldest order first. Includes servers that are being set up and cancelled servers. */
export const listDedicatedServers: ReadOperation<'listDedicatedServers'> = {
  kind: 'read',
  settles: true,
  isLong: true,
  async run(db, call) {
    const servers = await db
      .selectFrom('dedicated_servers')
      .selectAll()
      .where('account_id', '=', call.accountId)
      .where('state', '<>', 'ended')
      .orderBy('ordered')
      .orderBy('id')
      .execute();
    const shown = { secrets: call.runtime, vat: await vatAt(db, call.accountId, call.now) };
    const addresses = await addressesOfServers(db, servers);
    const list = servers.map((server) => toDedicatedServer(server, addresses.get(server.id) ?? { ipv4: [], ipv6: [] }, shown));
    return { message: 'The dedicated servers were listed.', data: { list } };
  },
};
