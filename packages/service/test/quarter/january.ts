/** January 2027: purchases, in sales and without, and upgrades. */
import { expect } from 'vitest';

import { euros } from '../../src/rules/money.ts';
import { orderServer, XEON } from '../dedicated.ts';
import { PERSON, PHONE } from '../domains.ts';
import { EPYC, RYZEN } from './purchases.ts';
import { charged, on, ran, runs } from './reseller.ts';
import type { Reseller } from './reseller.ts';

const JANUARY_DOMAIN = { 'reseller-customer.de': [charged('CREATE', '01-04 09:00', '2028-01-04 09:00', 4.2)] };
const JANUARY_SERVER = { [XEON]: [charged('CREATE', '01-12 00:15', '02-11 00:15', 59)] };

export async function buyInJanuary({ service, provider, id, goTo, buy, call, vm, sales, expectCurrent }: Reseller): Promise<void> {
  // Upgradable, for two VMs: 1.00 a core, 0.40 a GB of memory, 0.02 a GB of NVMe.
  await goTo('01-04 09:00');
  await provider.createSale({ title: 'Ryzen', start: Date.parse(on('01-08')), maxVolume: 2 });
  // Not upgradable, until it ends by date: 0.75 a core, 0.50 a GB of memory; NVMe keeps its price.
  const pricings = { de_epyc: { core: euros('0.75'), mem: euros('0.50') } };
  await provider.createSale({ title: 'Epyc', upgradable: false, stop: Date.parse(on('02-10')), pricings });

  expect((await buy('web', RYZEN)).body.data.pricings).toEqual({ monthly: 10.4, monthly_gross: 12.38 });
  const { body } = await call('createHandle', { form: { ...PERSON, phone: PHONE } });
  expect((await call('registerDomain', { form: { domain: 'reseller-customer.de', handle: body.data.handle } })).status).toBe(200);
  await expectCurrent({
    vms: { web: [runs('CREATE', '01-04 09:00', null, 10.4, 0, 0)] },
    domains: JANUARY_DOMAIN,
    total: 4.2,
    // 27 d 15 h, 2,386,800 s, until the month ends: 4.20 + 10.40 x 2,386,800 / 2,592,000 = 4.20 + 9.5766…
    estimate: 13.78,
    remaining: 236.22, // 250.00 - 13.78
    next: '02-01',
  });

  await goTo('01-07 23:59');
  expect(await sales()).toMatchObject({ Ryzen: 0, Epyc: 0 });
  await goTo('01-08');
  // 2 x 1.00 + 4 x 0.40 + 40 x 0.02
  expect((await buy('blog', RYZEN)).body.data.pricings.monthly).toBe(4.4);
  await goTo('01-10 12:00');
  // 4 x 0.75 + 8 x 0.50 + 100 x 0.03
  expect((await buy('db', EPYC)).body.data.pricings.monthly).toBe(10);

  await goTo('01-12');
  await orderServer(service, XEON, id);
  expect((await call('getDedicatedServer', { path: { identifier: XEON } })).body.data).toMatchObject({ deployed: false, management: null });
  await goTo('01-12 00:20');
  expect((await call('getDedicatedServer', { path: { identifier: XEON } })).body.data).toMatchObject({
    deployed: true,
    // 59.00 x 1.19 = 70.21; 30 days from 00:15, when the set-up completed.
    accounting: { price: { net: 59, gross: 70.21 }, renew: on('02-11 00:15'), terminated: false },
  });

  await goTo('01-15 06:30');
  await provider.resize(vm('web'), { cores: 4, mem: 8192 }); // 8.00 + 9.60 + 1.60 = 19.20
  await goTo('01-18');
  await provider.resize(vm('blog'), { cores: 4 }); // at the sale's prices still: 4.00 + 1.60 + 0.80 = 6.40
  await goTo('01-20 18:00');
  await provider.resize(vm('db'), { cores: 6 }); // at standard prices from now on: 9.00 + 8.00 + 3.00 = 20.00

  await goTo('01-22');
  expect((await buy('shop', RYZEN)).body.data.pricings.monthly).toBe(4.4);
  // The second VM used the sale up.
  expect(await sales()).not.toHaveProperty('Ryzen');
  expect((await buy('mail', RYZEN)).body.data.pricings.monthly).toBe(10.4);
  await goTo('01-25');
  expect((await buy('test', EPYC)).body.data.pricings.monthly).toBe(10);
  expect(await sales()).toMatchObject({ Epyc: 2 });

  await goTo('01-31 12:00');
  await expectCurrent({
    vms: {
      web: [
        runs('CREATE', '01-04 09:00', '01-15 06:30', 10.4, 941_400, 3.77722222), // 10 d 21.5 h: 10.40 x 941,400 / 2,592,000
        runs('UP-DOWNGRADE', '01-15 06:30', null, 19.2, 1_402_200, 10.38666667), // 16 d 5.5 h: 19.20 x 1,402,200 / 2,592,000
      ],
      blog: [
        runs('CREATE', '01-08', '01-18', 4.4, 864_000, 1.46666667), // 10 d: 4.40 / 3
        runs('UP-DOWNGRADE', '01-18', null, 6.4, 1_166_400, 2.88), // 13.5 d: 6.40 x 0.45
      ],
      db: [
        runs('CREATE', '01-10 12:00', '01-20 18:00', 10, 885_600, 3.41666667), // 10.25 d: 10.00 x 10.25 / 30
        runs('UP-DOWNGRADE', '01-20 18:00', null, 20, 928_800, 7.16666667), // 10.75 d: 20.00 x 10.75 / 30
      ],
      shop: [runs('CREATE', '01-22', null, 4.4, 820_800, 1.39333333)], // 9.5 d: 4.40 x 9.5 / 30
      mail: [runs('CREATE', '01-22', null, 10.4, 820_800, 3.29333333)], // 10.40 x 9.5 / 30
      test: [runs('CREATE', '01-25', null, 10, 561_600, 2.16666667)], // 6.5 d: 10.00 x 6.5 / 30
    },
    domains: JANUARY_DOMAIN,
    dedicated: JANUARY_SERVER,
    // 14.163889 + 4.346667 + 10.583333 + 1.393333 + 3.293333 + 2.166667 = 35.947222, and 4.20 + 59.00
    total: 99.15,
    // 12 h more of 19.20 + 6.40 + 20.00 + 4.40 + 10.40 + 10.00 = 70.40, that is 70.40 / 60 = 1.173333, make 100.320556.
    estimate: 100.32,
    remaining: 149.68, // 250.00 - 100.32
    next: '02-01',
  });
}

export async function closeJanuary({ goTo, expectCurrent, expectNewest }: Reseller): Promise<void> {
  await goTo('02-01');
  await expectNewest({
    count: 1,
    created: '02-01',
    status: 'OPEN',
    vms: {
      web: [
        ran('CREATE', '01-04 09:00', '01-15 06:30', 10.4), // 3.777222
        ran('UP-DOWNGRADE', '01-15 06:30', '02-01', 19.2), // 16 d 17.5 h: 19.20 x 1,445,400 / 2,592,000 = 10.706667
      ],
      blog: [
        ran('CREATE', '01-08', '01-18', 4.4), // 1.466667
        ran('UP-DOWNGRADE', '01-18', '02-01', 6.4), // 14 d: 6.40 x 1,209,600 / 2,592,000 = 2.986667
      ],
      db: [
        ran('CREATE', '01-10 12:00', '01-20 18:00', 10), // 3.416667
        ran('UP-DOWNGRADE', '01-20 18:00', '02-01', 20), // 11.25 d: 20.00 x 972,000 / 2,592,000 = 7.50
      ],
      shop: [ran('CREATE', '01-22', '02-01', 4.4)], // 10 d: 1.466667
      mail: [ran('CREATE', '01-22', '02-01', 10.4)], // 10 d: 3.466667
      test: [ran('CREATE', '01-25', '02-01', 10)], // 7 d: 2.333333
    },
    domains: JANUARY_DOMAIN,
    dedicated: JANUARY_SERVER,
    // 14.483889 + 4.453333 + 10.916667 + 1.466667 + 3.466667 + 2.333333 = 37.120556, and 63.20: 100.320556
    total: 100.32,
  });
  const restarted = (price: number) => [runs('BILLINGRESTART', '02-01', null, price, 0, 0)];
  await expectCurrent({
    vms: {
      web: restarted(19.2),
      blog: restarted(6.4),
      db: restarted(20),
      shop: restarted(4.4),
      mail: restarted(10.4),
      test: restarted(10),
    },
    total: 0,
    estimate: 124.71, // 28 days at the price of 30: 70.40 x 28 / 30 = 65.706667, and the renewal of the server: 59.00
    remaining: 24.97, // 250.00 - 100.32 unpaid - 124.71
    next: '03-01',
  });
}
