/** Whatever is bought, changed and paid, and whenever: every figure is what a plain model of billing says. */
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { carryOut, commands } from '../../../test/billing-commands.ts';
import type { Both } from '../../../test/billing-commands.ts';
import { BillingModel, firstOf, nextMonth } from '../../../test/billing-model.ts';
import type { ModelSale } from '../../../test/billing-model.ts';
import { startService } from '../../../test/harness.ts';
import { START } from '../../../test/ports/clock.ts';
import { expectInvariants } from '../../../test/invariants.ts';
import { invoicesOf, providerOf } from '../../../test/provider.ts';
import { euros } from '../../rules/money.ts';

/** How many sequences are tried: more find rarer mistakes. */
const RUNS = Number(process.env['PROPERTY_RUNS'] ?? 12);
const RUNS_AT_ONCE = 4;
const LIMIT = 1_000_000;
const FEBRUARY = Date.UTC(2027, 1) / 1000;

/** The two sales of the sandbox, and one for each of the other host systems. */
const modelSales = (): ModelSale[] => [
  { host: 'de_xeon', start: 0, stop: FEBRUARY, max: 200, upgradable: true, prices: { core: 800n, mem: 600n }, used: 0 },
  { host: 'de_xeon', start: FEBRUARY, stop: Infinity, max: 50, upgradable: false, prices: { mem: 700n, nvme: 20n }, used: 0 },
  { host: 'nl_ryzen', start: 0, stop: Infinity, max: 1, upgradable: true, prices: { core: 1000n, mem: 400n, nvme: 20n }, used: 0 },
  {
    host: 'de_epyc',
    start: START / 1000 + 86_400,
    stop: START / 1000 + 40 * 86_400,
    max: 2,
    upgradable: false,
    prices: { core: 1000n },
    used: 0,
  },
];

async function start(): Promise<Both> {
  const service = await startService({ creditLimit: `${LIMIT}.00` });
  const provider = providerOf(service);
  await provider.createSale({ maxVolume: 1 });
  await provider.createSale({
    maxVolume: 2,
    upgradable: false,
    start: START + 86_400_000,
    stop: START + 40 * 86_400_000,
    pricings: { de_epyc: { core: euros('1.00') } },
  });
  const account = await service.store.read((db) =>
    db.selectFrom('accounts').select('id').where('name', '=', 'test').executeTakeFirstOrThrow(),
  );
  return { service, model: new BillingModel(START / 1000, modelSales()), accountId: account.id };
}

async function expectAgreement({ service, model }: Both): Promise<void> {
  const now = Math.floor(service.clock.now() / 1000);
  const { data } = (await service.call('getCurrentInvoice')).body;
  expect(data).toMatchObject(model.current(now, BigInt(LIMIT) * 100n));
  expect(data.nextInvoiceDate).toBe(new Date(nextMonth(firstOf(now)) * 1000).toISOString());
  expect(data.positions.vms).toEqual(Object.fromEntries(model.positions(firstOf(now), now)));
  const invoices = (await invoicesOf(service)).toReversed();
  expect(invoices.map(({ created, total, status }) => ({ created, total, status }))).toEqual(
    model.invoices(now).map(({ month, total, status }) => ({ created: new Date(nextMonth(month) * 1000).toISOString(), total, status })),
  );
  await expectInvariants(service.store);
}

/** The positions of every closed invoice, oldest first. */
async function closedPositions({ service }: Both): Promise<unknown[]> {
  const invoices = (await invoicesOf(service)).toReversed();
  const details = await Promise.all(invoices.map(({ id }) => service.call('getInvoice', { path: { invoiceID: id } })));
  return details.map(({ body }) => body.data.positions.vms);
}

function expectedClosedPositions({ service, model }: Both): unknown[] {
  return model.invoices(Math.floor(service.clock.now() / 1000)).map(({ month }) => {
    const shown = [...model.positions(month, nextMonth(month))].map(
      ([id, positions]) => [id, positions.map((position) => ({ ...position, totalRuntime: null, totalPrice: null }))] as const,
    );
    return Object.fromEntries(shown);
  });
}

test.each(Array.from({ length: Math.ceil(RUNS / RUNS_AT_ONCE) }, (_, index) => index + 1))(
  'random months, seed %i',
  async (seed) => {
    await fc.assert(
      fc.asyncProperty(commands, async (all) => {
        const both = await start();
        for (const command of all) {
          await carryOut(both, command);
          await expectAgreement(both);
        }
        expect(await closedPositions(both)).toEqual(expectedClosedPositions(both));
      }),
      { seed, numRuns: Math.min(RUNS, RUNS_AT_ONCE), interruptAfterTimeLimit: 30_000, markInterruptAsFailure: true },
    );
  },
  60_000,
);
