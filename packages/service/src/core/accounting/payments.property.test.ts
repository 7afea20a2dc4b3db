/** Random payments, refunds, reversals and corrections: everything adds up after each step. */
import * as operator from '@reseller/operator-client';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { amountOf } from '../../../../../.config/depth.ts';
import { engines } from '../../../test/engines.ts';
import { SMALL_VM } from '../../../test/harness.ts';
import { expectInvariants } from '../../../test/invariants.ts';
import { startOperator } from '../../../test/operator.ts';

const STEPS = 25;

/** One step. `which` chooses an invoice or payment, and `cents` is an amount or the number of days that pass. */
const step = fc.record({
  action: fc.constantFrom('pay', 'pay', 'pay invoice', 'refund', 'reverse', 'credit', 'cancel', 'mark paid', 'buy', 'wait'),
  which: fc.nat(100),
  cents: fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 4_000 })),
});

test.each(engines)('on %s, the credit is explained to the cent, and each payment is used once', async (engine) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: STEPS, maxLength: STEPS }), async (steps) => {
      const service = await startOperator({ engine, creditLimit: '50.00' });
      try {
        const account_id = await ownAccount(service);
        await service.call('createVm', { form: SMALL_VM });
        for (const [index, one] of steps.entries()) {
          await perform(service, account_id, `step-${index}`, one);
          await expectInvariants(service.store);
          const { sum, explained, shown } = await creditOf(service);
          expect(sum).toBe(Math.round(explained.remaining * 100));
          expect(explained).toEqual(shown);
        }
      } finally {
        await service.end();
      }
    }),
    { numRuns: amountOf('PROPERTY_RUNS', { usual: 2, deep: 20 }) },
  );
});

type Service = Awaited<ReturnType<typeof startOperator>>;

async function ownAccount({ store }: Service): Promise<string> {
  const { id } = await store.read((db) =>
    db.selectFrom('accounts').select('id').where('credit_limit', '=', 50e8).executeTakeFirstOrThrow(),
  );
  return id;
}

async function perform(
  service: Service,
  account_id: string,
  name: string,
  { action, which, cents }: { action: string; which: number; cents: number },
): Promise<void> {
  const { client, clock } = service;
  const body = {
    amount: (cents / 100).toFixed(2),
    date: new Date(clock.now()).toISOString().slice(0, 10),
    method: 'bank_transfer',
    reference: name,
  };
  const { items: invoices } = await operator.listInvoices({ client, query: { account_id } });
  const { items: payments } = await operator.listPayments({ client, query: { account_id } });
  const invoice_id = invoices[which % (invoices.length || 1)]?.id ?? 'none';
  const payment = payments[which % (payments.length || 1)]?.name ?? 'none';
  const path = { account_id, payment: name };
  const actions: Record<string, () => Promise<unknown>> = {
    pay: () => operator.recordPayment({ client, path, body }),
    'pay invoice': () => operator.recordPayment({ client, path, body: { ...body, invoice_id } }),
    refund: () => operator.recordRefund({ client, path, body }),
    reverse: () => operator.reversePayment({ client, path: { account_id, payment }, body: { reason: name } }),
    credit: () =>
      operator.createCreditNote({ client, path: { invoice_id, credit_note: name }, body: { amount: body.amount, reason: name } }),
    cancel: () => operator.cancelInvoice({ client, path: { invoice_id } }),
    'mark paid': () => operator.markInvoicePaid({ client, path: { invoice_id } }),
    buy: () => service.call('createVm', { form: SMALL_VM }),
    wait: async () => {
      clock.advance((1 + (cents % 20)) * 86_400_000);
      await service.runScheduledJobs();
    },
  };
  await actions[action]?.().catch((error: unknown) => {
    // Random steps are often refused. Anything else is a failure.
    if (!(error instanceof operator.ResellerError) || (error.status !== 404 && error.status !== 409)) throw error;
  });
}

/** The credit as `GET /accounting/credit` explains it, and as the running invoice shows it. No order is being delivered between two steps. */
async function creditOf(service: Service) {
  const { limit, balance, unpaid, estimate, pending, remaining } = (await service.call('getCredit')).body.data;
  const { creditLimit, creditLimitRemaining } = (await service.call('getCurrentInvoice')).body.data;
  return {
    /** Cents. */
    sum: Math.round((limit + balance - unpaid - estimate - pending) * 100),
    explained: { limit, pending, remaining },
    shown: { limit: creditLimit, pending: 0, remaining: creditLimitRemaining },
  };
}
