import { spend } from '../../core/account/spending.ts';
import { orderDedicatedServer } from '../../core/dedicated/order.ts';
import { findServer, isOfferedTo } from '../../core/dedicated/server.ts';
import { settle } from '../../core/jobs/settle.ts';
import { assertPriceAccepted } from '../../rules/credit.ts';
import { notFound } from '../../rules/refusal.ts';
import type { StoreOperation } from '../operation.ts';

/** PUT /dedicated/{identifier}/purchase: orders a server of the market. */
export const purchaseDedicatedServer: StoreOperation<'purchaseDedicatedServer'> = {
  kind: 'store',
  async run({ db }, { runtime, accountId, spender, path, form, now }) {
    await settle(db, runtime, { accountId, now });
    const server = await findServer(db, path.identifier);
    const isOwn = server?.account_id === accountId && server.state !== 'ended';
    if (!server || !(isOwn || isOfferedTo(server, accountId))) throw notFound('dedicated server');
    if (!isOwn) assertPriceAccepted(BigInt(server.price), form.max_price);
    await orderDedicatedServer(db, runtime, { identifier: server.id, accountId });
    const success = { message: 'The dedicated server was ordered and is being set up.', data: { identifier: server.id } };
    if (isOwn) return success;
    await spend(db, spender, BigInt(server.price), now);
    return { ...success, bought: { kind: 'dedicated', subject: server.id, price: server.price } };
  },
};
