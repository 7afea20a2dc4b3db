/** The estimate, the credit, the quote and the invoice show one amount, also where it ends with half a cent. */
import * as operator from '@reseller/operator-client';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { amountOf } from '../../../../../.config/depth.ts';
import { handleOf, PHONE } from '../../../test/domains.ts';
import { engines } from '../../../test/engines.ts';
import { startOperator } from '../../../test/operator.ts';
import { UNITS_PER_CENT } from '../../rules/money.ts';

const RUNS = amountOf('PROPERTY_RUNS', { usual: 3, deep: 60 });

/** EUR with half cents, or a unit of 10^-8 EUR more or less. In units. */
const price = fc
  .tuple(fc.integer({ min: 0, max: 2_000 }), fc.constantFrom(499_999n, 500_000n, 500_000n, 500_001n, 0n))
  .map(([cents, rest]) => BigInt(cents) * UNITS_PER_CENT + rest);

test.each(engines)('on %s, a limit of what is invoiced buys it, and every place shows what is invoiced', async (engine) => {
  const service = await startOperator({ engine, creditLimit: '0.00' });
  let names = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(price, { minLength: 1, maxLength: 5 }), async (prices) => {
      const { client } = service;
      const { id: account_id, apiKey } = await service.account('0.00');
      const handle = await handleOf(service, { apiKey, phone: PHONE });
      const limitTo = (cents: bigint) =>
        operator.setCreditLimit({ client, path: { account_id }, body: { credit_limit: decimal(cents * UNITS_PER_CENT, 2) } });
      let exact = 0n;
      for (const create of prices) {
        await operator.setTldPrice({ client, path: { tld: 'net' }, body: { create: decimal(create), renew: '0.00', transfer: '0.00' } });
        names += 1;
        const form = { domain: `rounded-${names}.net`, handle };
        const [before, after] = [evenCents(exact), evenCents(exact + create)];
        const quoted = (await service.call('quoteRegisterDomain', { apiKey, form })).body.data;
        expect(BigInt(Math.round(quoted.neededCredit * 100))).toBe(after - before);
        if (after > before) {
          await limitTo(after - 1n);
          const refused = await service.call('registerDomain', { apiKey, form });
          expect([refused.status, refused.body.message]).toEqual([
            402,
            expect.stringContaining(`needs ${decimal((after - before) * UNITS_PER_CENT, 2)} EUR`),
          ]);
        }
        await limitTo(after);
        expect((await service.call('registerDomain', { apiKey, form })).status).toBe(200);
        exact += create;
        const invoice = (await service.call('getCurrentInvoice', { apiKey })).body.data;
        const credit = (await service.call('getCredit', { apiKey })).body.data;
        const shown = await operator.getAccountCurrentInvoice({ client, path: { account_id } });
        const total = Number(after) / 100;
        expect([invoice.estimatedInvoiceTotal, invoice.creditLimitRemaining, credit.estimate, credit.remaining]).toEqual([
          total,
          0,
          total,
          0,
        ]);
        expect([Number(shown.estimated_total), Number(shown.credit.estimate), Number(shown.credit.remaining)]).toEqual([total, total, 0]);
      }
      service.clock.advance(31 * 86_400_000);
      await service.runScheduledJobs();
      const totals = Object.values((await service.call('listInvoices', { apiKey })).body.data).map((one) => Object(one).total);
      expect(totals).toEqual([Number(evenCents(exact)) / 100]);
    }),
    { numRuns: RUNS },
  );
});

/** Rounds to cents, half to the even cent. */
function evenCents(units: bigint): bigint {
  const [whole, rest] = [units / UNITS_PER_CENT, (units % UNITS_PER_CENT) * 2n];
  return rest > UNITS_PER_CENT || (rest === UNITS_PER_CENT && whole % 2n === 1n) ? whole + 1n : whole;
}

function decimal(units: bigint, decimals = 8): string {
  const digits = units.toString().padStart(9, '0');
  return `${digits.slice(0, -8)}.${digits.slice(-8).slice(0, decimals)}`;
}
