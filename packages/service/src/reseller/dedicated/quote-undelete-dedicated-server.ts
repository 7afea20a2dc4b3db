import { assertAllowed, ownServer, stateOf } from '../../core/dedicated/server.ts';
import { withdrawServerCancellation } from '../../rules/dedicated.ts';
import type { ReadOperation } from '../operation.ts';
import { quoteSuccess } from '../quote-success.ts';
import { quotedServer } from './quoted-server.ts';

/** POST /dedicated/{identifier}/undelete/quote: the price of the renewals of a server. */
export const quoteUndeleteDedicatedServer: ReadOperation<'quoteUndeleteDedicatedServer'> = {
  kind: 'read',
  settles: true,
  async run(db, { accountId, path, now }) {
    const server = await ownServer(db, accountId, path.identifier);
    assertAllowed(withdrawServerCancellation(stateOf(server)), server.id);
    return quoteSuccess(db, quotedServer({ ...server, terminated: 0 }, now), { accountId, now });
  },
};
