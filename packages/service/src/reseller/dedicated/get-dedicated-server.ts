import { vatAt } from '../../core/accounting/account-vat.ts';
import { addressesOfServers, toDedicatedServer } from '../../core/dedicated/responses.ts';
import { findServer, isOfferedTo, ownServer } from '../../core/dedicated/server.ts';
import type { ReadOperation } from '../operation.ts';

/**
 * GET /dedicated/{identifier}/info: a server of the account, or one of the market (specification: "path identifier (from market or server
 * list)"). The response for the latter is our choice.
 */
export const getDedicatedServer: ReadOperation<'getDedicatedServer'> = {
  kind: 'read',
  settles: true,
  async run(db, call) {
    const { identifier } = call.path;
    const found = await findServer(db, identifier);
    const server = found && isOfferedTo(found, call.accountId) ? found : await ownServer(db, call.accountId, identifier);
    const shown = { secrets: call.runtime, vat: await vatAt(db, call.accountId, call.now) };
    const addresses = await addressesOfServers(db, [server]);
    const data = toDedicatedServer(server, addresses.get(server.id) ?? { ipv4: [], ipv6: [] }, shown);
    return { message: 'The dedicated server was found.', data };
  },
};
