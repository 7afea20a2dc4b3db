/** February 2027: the credit limit, downgrades, a stop, a transfer, and cancellations that are withdrawn. */
import { expect } from 'vitest';

import { XEON } from '../dedicated.ts';
import { PERSON } from '../domains.ts';
import { BIG, EPYC, WITH_EXTRAS } from './purchases.ts';
import { charged, on, ran, runs } from './reseller.ts';
import type { Reseller } from './reseller.ts';

const FEBRUARY_DOMAIN = { 'reseller-shop.net': [charged('TRANSFER', '02-14 10:00', '2028-02-14 10:00', 11)] };
const FEBRUARY_SERVER = { [XEON]: [charged('RENEW', '02-11 00:15', '03-13 00:15', 59)] };

export async function changeInFebruary({ service, provider, goTo, buy, call, vm, sales, expectCurrent }: Reseller): Promise<void> {
  await goTo('02-03 12:00');
  const refused = await buy('big', BIG);
  expect([refused.status, refused.body.type]).toEqual([402, 'credit_limit_exceeded']);
  // 25.5 d: 128.80 x 25.5 / 30 = 109.48; 250.00 - 100.32 unpaid - 124.71 that February comes to without it.
  expect(refused.body.message).toContain('needs 109.48 EUR of the credit limit, and 24.97 EUR remain');
  const { body } = await call('listInvoices');
  await provider.markPaid(String(Object.keys(body.data)[0]));
  expect((await buy('big', BIG)).body.data.pricings.monthly).toBe(128.8);

  await goTo('02-05');
  await provider.resize(vm('web'), { cores: 2, mem: 4096 }); // 10.40 again
  await goTo('02-06');
  await provider.resize(vm('blog'), { cores: 1 }); // at the sale's prices: 1.00 + 1.60 + 0.80 = 3.40
  await goTo('02-06 12:00');
  await provider.resize(vm('test'), { cores: 2 }); // fewer cores, at standard prices: 3.00 + 8.00 + 3.00 = 14.00
  await goTo('02-08 18:00');
  await provider.remove(vm('big'));
  await goTo('02-10 12:00');
  // The sale ended by date at midnight: 17.00.
  expect(await sales()).not.toHaveProperty('Epyc');
  expect((await buy('late', EPYC)).body.data.pricings.monthly).toBe(17);
  await goTo('02-12');
  await provider.stop(vm('mail'));

  await goTo('02-14 10:00');
  const handle: unknown = (await call('createHandle', { form: PERSON })).body.data.handle;
  const transfer = { domain: 'reseller-shop.net', handle, authcode: 'example-authcode-1' };
  expect((await call('registerDomain', { form: transfer })).body.data.timings.expire).toBe('2028-02-14 10:00:00');
  await goTo('02-15 06:00');
  await provider.start(vm('mail'));

  const path = { identifier: XEON };
  await goTo('02-16 08:00');
  expect((await call('deleteDedicatedServer', { path })).body.data).toEqual({ ...path, termination_date: on('03-13 00:15') });
  await goTo('02-17 08:00');
  expect((await call('undeleteDedicatedServer', { path })).body.data).toEqual({ ...path, renew_date: on('03-13 00:15') });
  const domain = { path: { domain: 'reseller-customer.de' } };
  await goTo('02-18');
  await service.domains.terminate(domain.path.domain);
  expect((await call('getDomain', domain)).body.data.domain.terminated).toBe(true);
  await goTo('02-19');
  expect((await call('undeleteDomain', domain)).body.data).toEqual(domain.path);
  expect((await call('getDomain', domain)).body.data).toMatchObject({
    domain: { terminated: false },
    timings: { expire: '2028-01-04 09:00:00' },
  });

  await goTo('02-20');
  await expectCurrent({
    vms: {
      web: [
        runs('BILLINGRESTART', '02-01', '02-05', 19.2, 345_600, 2.56), // 4 d: 19.20 x 4 / 30
        runs('UP-DOWNGRADE', '02-05', null, 10.4, 1_296_000, 5.2), // 15 d: half of 10.40
      ],
      blog: [
        runs('BILLINGRESTART', '02-01', '02-06', 6.4, 432_000, 1.06666667), // 5 d: 6.40 / 6
        runs('UP-DOWNGRADE', '02-06', null, 3.4, 1_209_600, 1.58666667), // 14 d: 3.40 x 14 / 30
      ],
      db: [runs('BILLINGRESTART', '02-01', null, 20, 1_641_600, 12.66666667)], // 19 d: 20.00 x 19 / 30
      shop: [runs('BILLINGRESTART', '02-01', null, 4.4, 1_641_600, 2.78666667)], // 4.40 x 19 / 30
      mail: [
        runs('BILLINGRESTART', '02-01', '02-12', 10.4, 950_400, 3.81333333), // 11 d: 10.40 x 11 / 30
        runs('BILLINGRESTART', '02-15 06:00', null, 10.4, 410_400, 1.64666667), // 4.75 d: 10.40 x 4.75 / 30
      ],
      test: [
        runs('BILLINGRESTART', '02-01', '02-06 12:00', 10, 475_200, 1.83333333), // 5.5 d: 10.00 x 5.5 / 30
        runs('UP-DOWNGRADE', '02-06 12:00', null, 14, 1_166_400, 6.3), // 13.5 d: 14.00 x 0.45
      ],
      big: [runs('CREATE', '02-03 12:00', '02-08 18:00', 128.8, 453_600, 22.54)], // 5.25 d: 128.80 x 0.175
      late: [runs('CREATE', '02-10 12:00', null, 17, 820_800, 5.38333333)], // 9.5 d: 17.00 x 9.5 / 30
    },
    domains: FEBRUARY_DOMAIN,
    dedicated: FEBRUARY_SERVER,
    // 7.76 + 2.653333 + 12.666667 + 2.786667 + 5.46 + 8.133333 + 22.54 + 5.383333 = 67.383333, and 59.00 + 11.00
    total: 137.38,
    // 9 d more of 10.40 + 3.40 + 20.00 + 4.40 + 10.40 + 14.00 + 17.00 = 79.60, that is 79.60 x 0.3 = 23.88, make 161.263333.
    estimate: 161.26,
    remaining: 88.74, // 250.00 - 161.26, and the January invoice is paid
    next: '03-01',
  });
}

export async function closeFebruary({ provider, goTo, buy, expectCurrent, expectNewest }: Reseller): Promise<void> {
  await goTo('03-01');
  const february = {
    count: 2,
    created: '03-01',
    vms: {
      web: [
        ran('BILLINGRESTART', '02-01', '02-05', 19.2), // 2.56
        ran('UP-DOWNGRADE', '02-05', '03-01', 10.4), // 24 d: 10.40 x 0.8 = 8.32
      ],
      blog: [
        ran('BILLINGRESTART', '02-01', '02-06', 6.4), // 1.066667
        ran('UP-DOWNGRADE', '02-06', '03-01', 3.4), // 23 d: 3.40 x 23 / 30 = 2.606667
      ],
      db: [ran('BILLINGRESTART', '02-01', '03-01', 20)], // 28 d: 20.00 x 28 / 30 = 18.666667
      shop: [ran('BILLINGRESTART', '02-01', '03-01', 4.4)], // 4.40 x 28 / 30 = 4.106667
      mail: [
        ran('BILLINGRESTART', '02-01', '02-12', 10.4), // 3.813333
        ran('BILLINGRESTART', '02-15 06:00', '03-01', 10.4), // 13.75 d: 10.40 x 13.75 / 30 = 4.766667
      ],
      test: [
        ran('BILLINGRESTART', '02-01', '02-06 12:00', 10), // 1.833333
        ran('UP-DOWNGRADE', '02-06 12:00', '03-01', 14), // 22.5 d: 14.00 x 0.75 = 10.50
      ],
      big: [ran('CREATE', '02-03 12:00', '02-08 18:00', 128.8)], // 22.54
      late: [ran('CREATE', '02-10 12:00', '03-01', 17)], // 18.5 d: 17.00 x 18.5 / 30 = 10.483333
    },
    domains: FEBRUARY_DOMAIN,
    dedicated: FEBRUARY_SERVER,
    // 10.88 + 3.673333 + 18.666667 + 4.106667 + 8.58 + 12.333333 + 22.54 + 10.483333 = 91.263333, and 70.00
    total: 161.26,
  };
  const invoice = await expectNewest({ ...february, status: 'OPEN' });
  // March comes to 79.60 x 31 / 30 = 82.25 and the renewal of the server, 59.00, so that 250.00 - 161.26 - 141.25 = -52.51 remain.
  // 22.40 x 31 / 30 = 23.146667 do not fit, until the invoice is paid.
  expect((await buy('extra', WITH_EXTRAS)).status).toBe(402);
  await provider.markPaid(invoice);
  expect(await expectNewest({ ...february, status: 'PAID' })).toBe(invoice);
  const restarted = (price: number) => [runs('BILLINGRESTART', '03-01', null, price, 0, 0)];
  await expectCurrent({
    vms: {
      web: restarted(10.4),
      blog: restarted(3.4),
      db: restarted(20),
      shop: restarted(4.4),
      mail: restarted(10.4),
      test: restarted(14),
      late: restarted(17),
    },
    total: 0,
    estimate: 141.25, // 79.60 x 31 / 30, and the renewal of the server on 13 March: 59.00
    remaining: 108.75, // 250.00 - 141.25
    next: '04-01',
  });
}
