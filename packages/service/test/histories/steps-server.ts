/** Steps that change dedicated servers. */
import { ACCESS, marketItem } from '../dedicated.ts';
import { decimal, minus } from '../simulator/fraction.ts';
import { estimateOf, orderNeeds, setUp } from './ledger.ts';
import { buy } from './purchase.ts';
import type { Turn } from './purchase.ts';
import { amount, done } from './world.ts';

export async function orderServer(turn: Turn): Promise<void> {
  const { door, ledger, dice } = turn;
  const account = dice.pick(ledger.accounts);
  const [price, days] = [amount(dice, 5, 60), dice.pick([1, 7, 14, 30, 31, 90])];
  const { id } = await done(door.operate('POST', '/dedicated/market', marketItem(price, days)));
  const server = { id, price: decimal(price), days, ordered: ledger.now, due: null, isCancelled: false };
  await buy(turn, account, {
    id: 'purchaseDedicatedServer',
    quote: 'quotePurchaseDedicatedServer',
    sent: { path: { identifier: id } },
    price: server.price,
    added: orderNeeds(ledger, server),
    enter: () => void account.servers.push(server),
  });
}

export async function changeServer(turn: Turn): Promise<void> {
  const { door, ledger, facts, dice, describe } = turn;
  const one = dice.pickAny(ledger.accounts.flatMap((account) => account.servers.map((server) => ({ account, server }))));
  if (!one) return;
  const { account, server } = one;
  const path = { identifier: server.id };
  if (server.due === null) {
    describe(`the operator completes the set-up of a server of ${account.name}`);
    await done(door.operate('POST', `/dedicated/servers/${server.id}/complete-setup`, { management: ACCESS, ipv4: [] }));
    setUp(ledger, account, server);
    return;
  }
  if (!server.isCancelled) {
    describe(`${account.name} cancels a server`);
    const { status } = await door.call(account.apiKey, 'deleteDedicatedServer', { path });
    facts.same('status of a cancellation', status, account.isSuspended ? 403 : 200);
    server.isCancelled = status === 200;
    return;
  }
  const before = estimateOf(ledger, account);
  server.isCancelled = false;
  const added = minus(estimateOf(ledger, account), before);
  server.isCancelled = true;
  await buy(turn, account, {
    id: 'undeleteDedicatedServer',
    quote: 'quoteUndeleteDedicatedServer',
    sent: { path },
    isGuarded: false,
    price: server.price,
    added,
    enter() {
      server.isCancelled = false;
    },
  });
}
