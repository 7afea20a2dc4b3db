import type { StoreOperation } from '../../operation.ts';
import { settle } from '../../settle.ts';
import { addressesOf, serverAnswer } from '../answer.ts';

/** GET /dedicated/list: the account's servers, oldest order first, those that are being set up and those that are cancelled among them. */
export const listDedicatedServers: StoreOperation<'listDedicatedServers'> = {
  kind: 'store',
  async run({ db }, call) {
    await settle(db, call);
    const servers = await db
      .selectFrom('dedicated_servers')
      .selectAll()
      .where('account_id', '=', call.accountId)
      .where('state', '<>', 'ended')
      .orderBy('ordered')
      .orderBy('id')
      .execute();
    const addresses = await addressesOf(db, servers);
    const list = servers.map((server) => serverAnswer(server, addresses.get(server.id) ?? { ipv4: [], ipv6: [] }, call.secret));
    return { message: 'The dedicated servers were listed.', data: { list } };
  },
};
