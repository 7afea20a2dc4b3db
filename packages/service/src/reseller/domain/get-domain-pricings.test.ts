import { expect, test } from 'vitest';

import { handleOf } from '../../../test/domains.ts';
import { startService } from '../../../test/harness.ts';

test('returns the net and gross prices of each TLD', async () => {
  const service = await startService();
  const { status, body } = await service.call('getDomainPricings');
  expect(status).toBe(200);
  expect(body.data).toMatchObject({
    de: { price_net: { create: 4.2, renew: 4.2, transfer: 4.2 }, price_gross: { create: 5, renew: 5, transfer: 5 } },
    net: { price_net: { create: 11, renew: 12, transfer: 11 }, price_gross: { create: 13.09, renew: 14.28, transfer: 13.09 } },
    // 6.50 x 1.19 is 7.735, rounded half up.
    'co.uk': { price_net: { create: 6.5, renew: 8, transfer: 6.5 }, price_gross: { create: 7.74, renew: 9.52, transfer: 7.74 } },
  });
});

test('registers a domain under every listed TLD at its price', async () => {
  const service = await startService();
  const handle = await handleOf(service);
  const { data } = (await service.call('getDomainPricings')).body;
  const prices = Object.entries<{ price_net: { create: number } }>(data);
  for (const [tld] of prices)
    expect(await service.call('registerDomain', { form: { domain: `reseller-customer.${tld}`, handle } })).toMatchObject({ status: 200 });
  const { positions } = (await service.call('getCurrentInvoice')).body.data;
  for (const [tld, { price_net: net }] of prices)
    expect(positions.domains[`reseller-customer.${tld}`]).toMatchObject([{ totalPrice: net.create }]);
});
