import { assertAllowed, findServer, isOfferedTo, stateOf } from '../../core/dedicated/server.ts';
import { order } from '../../rules/dedicated.ts';
import { notFound } from '../../rules/refusal.ts';
import type { ReadOperation } from '../operation.ts';
import { quoteSuccess } from '../quote-success.ts';
import { quotedServer } from './quoted-server.ts';

/** POST /dedicated/{identifier}/purchase/quote: the price of a server of the market. */
export const quotePurchaseDedicatedServer: ReadOperation<'quotePurchaseDedicatedServer'> = {
  kind: 'read',
  settles: true,
  async run(db, { accountId, path, now }) {
    const server = await findServer(db, path.identifier);
    const isOwn = server?.account_id === accountId && server.state !== 'ended';
    if (!server || !(isOwn || isOfferedTo(server, accountId))) throw notFound('dedicated server');
    assertAllowed(order(stateOf(server), null), server.id);
    return quoteSuccess(db, quotedServer({ ...server, state: 'ordered', ordered: Math.floor(now / 1000) }, now), { accountId, now });
  },
};
