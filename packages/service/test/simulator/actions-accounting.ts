/** Operations of the provider on credit limits, invoices, sales and prices. */
import { cancelInvoice, markInvoicePaid } from '../../src/core/accounting/invoice-changes.ts';
import { storePrices, withdrawPrices } from '../../src/core/catalogue/host-system.ts';
import { createSale, endSale } from '../../src/core/catalogue/sale-life-cycle.ts';
import { euros } from '../../src/index.ts';
import { addPayment } from './actions-payments.ts';
import { hosts } from './catalogue.ts';
import { decimal, units } from './fraction.ts';
import { invoicesOf } from './model-invoices.ts';
import { correct, grossLeft, invoiceOf, issueModelDocuments, netLeft, payInvoices } from './model-payments.ts';
import { listedAt, listOf } from './model-prices.ts';
import type { ModelAccount, SalePrices, SaleResource } from './model.ts';
import { runProviderOperation } from './provider-operations.ts';
import { wrongState } from './requests.ts';
import type { Dice } from './seeded-random.ts';
import type { Simulation } from './simulation.ts';
import { monthAfter, monthOf } from './virtual-clock.ts';

export async function changeCreditLimit(sim: Simulation): Promise<void> {
  const account = sim.dice.pick(sim.model.accounts);
  const text = `${sim.dice.integer(20, 350)}.${sim.dice.integer(10, 99)}`;
  sim.describe(`the credit limit of ${account.name} becomes ${text} EUR`);
  await setCreditLimit(sim, account, text);
}

export async function setCreditLimit(sim: Simulation, account: ModelAccount, text: string): Promise<void> {
  account.credit = decimal(text);
  const credit_limit = Number(units(account.credit));
  await sim.client.store().commit(({ db }) => db.updateTable('accounts').set({ credit_limit }).where('id', '=', account.id).execute());
}

export async function settleRandomInvoice(sim: Simulation): Promise<void> {
  const { dice, model, clock } = sim;
  const known = model.accounts.flatMap((account) => [...account.invoiceIds].map(([month, id]) => ({ account, month, id })));
  const invoice = dice.pickAny(known);
  if (!invoice) return changeCreditLimit(sim);
  const action = dice.chance(0.8) ? 'pay' : 'cancel';
  await settleInvoice(sim, invoice, action);
  // Most payments cover all open invoices. Otherwise the credit limits would soon refuse every purchase.
  if (action !== 'pay' || dice.chance(0.4)) return;
  const open = new Set(
    invoicesOf(model, invoice.account, clock.seconds()).flatMap(({ month, status }) => (status === 'OPEN' ? [month] : [])),
  );
  for (const one of known) if (one.account === invoice.account && open.has(one.month)) await settleInvoice(sim, one, 'pay');
}

async function settleInvoice(
  sim: Simulation,
  { account, month, id }: { account: ModelAccount; month: number; id: string },
  action: 'pay' | 'cancel',
): Promise<void> {
  issueModelDocuments(sim.model);
  const invoice = invoiceOf(sim.model, account, month);
  sim.describe(
    `the provider ${action === 'pay' ? 'marks as paid' : 'cancels'} the invoice of ${account.name} for ${new Date(month * 1000).toISOString().slice(0, 7)}`,
  );
  const done = () =>
    sim.client
      .store()
      .commit(({ db }) => (action === 'pay' ? markInvoicePaid : cancelInvoice)(db, sim.world, { invoiceId: id, now: sim.clock.now() }));
  if (!(await runProviderOperation(sim, done, invoice?.status === 'OPEN' ? undefined : wrongState))) return;
  const document = account.documents.get(month);
  if (!document) throw new Error('The invoice has no document.');
  if (action === 'cancel') correct(sim.model, account, month, { amount: netLeft(document), reason: 'Cancellation' });
  else await learnPayment(sim, account, { month, amount: grossLeft(document) - document.paid });
}

/** The service records a payment of an invoice that is marked as paid. */
async function learnPayment(
  { model, client, clock }: Simulation,
  account: ModelAccount,
  { month, amount }: { month: number; amount: bigint },
): Promise<void> {
  const stored = await client
    .store()
    .read((db) => db.selectFrom('payments').select(['id', 'name']).where('account_id', '=', account.id).execute());
  const recorded = stored.find(({ id }) => account.payments.every((known) => known.id !== id));
  if (!recorded) throw new Error('No payment was recorded.');
  addPayment(account, { ...recorded, kind: 'payment', amount, created: clock.now(), body: undefined, unused: amount });
  payInvoices(model, account, month);
}

const DAY = 86_400_000;

export async function createRandomSale(sim: Simulation): Promise<void> {
  const { dice, model, clock, client, world } = sim;
  const now = clock.now();
  const start = now + dice.pick([-DAY, 0, 1, 500, dice.integer(1, 40 * DAY)]);
  const stop = dice.chance(0.5) ? start + dice.integer(1, 60 * DAY) : null;
  const accountId = dice.chance(0.25) ? dice.pick(model.accounts).id : null;
  const listed = hosts.filter(() => dice.chance(0.6));
  const pricings = (listed.length > 0 ? listed : hosts).map(
    (host) => [host.name, randomPrices(dice, listedAt(model, host.name, Math.max(now, start)).prices)] as const,
  );
  const max = dice.integer(1, 4);
  const upgradable = dice.chance(0.5);
  const title = `Sale ${model.sales.length + 1}`;
  const texts = pricings.map(
    ([name, prices]) => [name, Object.fromEntries(prices.map(([resource, text]) => [resource, euros(text)]))] as const,
  );
  const id = await client
    .store()
    .commit(({ db }) =>
      createSale(db, world.ports, { title, accountId, start, stop, upgradable, maxVolume: max, pricings: Object.fromEntries(texts) }),
    );
  const prices = new Map(
    pricings.map(([name, list]): [string, SalePrices] => [
      name,
      Object.fromEntries(list.map(([resource, text]) => [resource, decimal(text)])),
    ]),
  );
  model.sales.push({ id, title, accountId, start, stop, ended: null, max, used: 0, upgradable, prices });
  sim.describe(`the provider creates ${title} for ${max} VMs`);
}

function randomPrices(dice: Dice, standard: Readonly<Record<SaleResource, string>>): (readonly [SaleResource, string])[] {
  const resources: readonly SaleResource[] = ['core', 'mem', 'nvme'];
  const chosen = resources.filter(() => dice.chance(0.6));
  // From zero to the list price. The service does not apply a sale at the list price.
  return (chosen.length > 0 ? chosen : resources).map((resource) => {
    const price = dice.integer(0, Number(units(decimal(standard[resource]))));
    return [resource, `${Math.floor(price / 1e8)}.${String(price % 1e8).padStart(8, '0')}`] as const;
  });
}

export async function endRandomSale(sim: Simulation): Promise<void> {
  const { dice, model, clock, client } = sim;
  const sale = dice.pickAny(model.sales.slice(-6));
  if (!sale) return createRandomSale(sim);
  const now = clock.now();
  const hasEnded = sale.ended !== null || (sale.stop !== null && sale.stop <= now) || sale.used >= sale.max;
  sim.describe(`the provider ends ${sale.title}`);
  const done = () => client.store().commit(({ db }) => endSale(db, sale.id, now));
  if (await runProviderOperation(sim, done, hasEnded ? wrongState : undefined)) sale.ended = now;
}

/** The provider schedules prices of a host system, often around the end of a month, or withdraws scheduled prices. */
export async function changePrices(sim: Simulation): Promise<void> {
  const { dice, model, clock, client } = sim;
  const now = clock.now();
  const { name } = dice.pick(hosts);
  const list = listOf(model, name);
  const scheduled = dice.pickAny(list.filter(({ from }) => from > now));
  if (scheduled && dice.chance(0.3)) {
    sim.describe(`the provider withdraws the prices of ${name} from ${new Date(scheduled.from).toISOString()} on`);
    await client.store().commit(({ db }) => withdrawPrices(db, name, scheduled.from));
    list.splice(list.indexOf(scheduled), 1);
    return;
  }
  const month = monthAfter(monthOf(clock.seconds())) * 1000;
  const from = dice.pick([now, now + 1, now + dice.integer(1, 40 * DAY), month - 1, month, month + 1]);
  if (list.some((one) => one.from === from)) return sim.describe('the provider schedules no prices: others begin at the same instant');
  const isForAll = dice.chance(0.6);
  const prices = Object.fromEntries(
    Object.entries(list[0]?.prices ?? {}).map(([resource, price]) => [
      resource,
      (Number(price) * dice.pick([0.5, 0.9, 1, 1.1, 1.7])).toFixed(8),
    ]),
  );
  const { core = '', mem = '', nvme = '', hdd = '', extra_ip = '', extra_backup_slot = '', extra_gbit = '' } = prices;
  const changed = { core, mem, nvme, hdd, extra_ip, extra_backup_slot, extra_gbit };
  sim.describe(`the provider schedules prices of ${name} from ${new Date(from).toISOString()} on${isForAll ? ', for all VMs' : ''}`);
  const appliesTo = isForAll ? 'all_vms' : 'new_purchases';
  await client.store().commit(({ db }) => storePrices(db, name, { validFrom: from, prices: changed, appliesTo }));
  list.push({ from, prices: changed, isForAll });
}
