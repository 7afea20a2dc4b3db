/** An order in delivery, next to each other: quote, refusal, credit and estimate, on both APIs. */
import * as operator from '@reseller/operator-client';
import { expect, test } from 'vitest';

import { marketItem } from '../../../test/dedicated.ts';
import { engines } from '../../../test/engines.ts';
import { startOperator } from '../../../test/operator.ts';

const MANAGEMENT = { dashboard: 'https://ipmi.example', username: 'admin', email: 'ops@reseller.example', password: 'example-password' };

test.each(engines)(
  'on %s, an order in delivery is in pending and in no estimate, and after its set-up the other way round',
  async (engine) => {
    const service = await startOperator({ engine });
    const { client, clock } = service;
    clock.advanceTo('2027-04-01T00:00:00Z');
    const { id: identifier } = await operator.addMarketItem({ client, body: marketItem('10.00', 5) });
    const account = await service.account('25.00');
    const sent = { path: { identifier }, form: {}, apiKey: account.apiKey };
    const amounts = async () => {
      const credit = (await service.call('getCredit', { apiKey: account.apiKey })).body.data;
      const current = (await service.call('getCurrentInvoice', { apiKey: account.apiKey })).body.data;
      const ofOperator = await operator.getAccountCurrentInvoice({ client, path: { account_id: account.id } });
      expect(Object.fromEntries(Object.entries(ofOperator.credit).map(([name, amount]) => [name, Number(amount)]))).toEqual(credit);
      expect(Number(ofOperator.estimated_total)).toBe(current.estimatedInvoiceTotal);
      expect(credit.remaining).toBe(current.creditLimitRemaining);
      return { pending: credit.pending, estimate: credit.estimate, estimated: current.estimatedInvoiceTotal };
    };

    // The first runtime, and the renewals of 6, 11, 16, 21 and 26 April.
    const needed = 60;
    expect((await service.call('quotePurchaseDedicatedServer', sent)).body.data.neededCredit).toBe(needed);
    const refused = await service.call('purchaseDedicatedServer', sent);
    expect([refused.status, refused.body.message]).toEqual([
      402,
      expect.stringContaining(
        'needs 60.00 EUR of the credit limit, for its first runtime and the renewals that are due until the end of the month if the set-up completes at once, and 25.00 EUR remain',
      ),
    ]);
    await operator.setCreditLimit({ client, path: { account_id: account.id }, body: { credit_limit: '60.00' } });
    expect((await service.call('purchaseDedicatedServer', sent)).status).toBe(200);
    expect(await amounts()).toEqual({ pending: needed, estimate: 0, estimated: 0 });
    const ipv4: { address: string; gateway: string }[] = [];
    await operator.completeDedicatedSetup({ client, path: { server_id: identifier }, body: { management: MANAGEMENT, ipv4 } });
    expect(await amounts()).toEqual({ pending: 0, estimate: needed, estimated: needed });
  },
);
