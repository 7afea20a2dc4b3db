/** March 2027: a sale that is ended by hand, removals, and the end of a dedicated server. */
import { expect } from 'vitest';

import { euros } from '../../src/rules/money.ts';
import { XEON } from '../dedicated.ts';
import { RYZEN, WITH_EXTRAS } from './purchases.ts';
import { on, ran, runs } from './reseller.ts';
import type { Reseller } from './reseller.ts';

export async function goThroughMarch({ provider, goTo, buy, call, vm, sales, expectCurrent }: Reseller): Promise<void> {
  await goTo('03-02');
  const sale = await provider.createSale({
    title: 'By hand',
    start: Date.parse(on('03-02')),
    pricings: { nl_ryzen: { core: euros('0.50') } },
  });
  // 2 x 0.50 + 4.80 + 1.60
  expect((await buy('promo', RYZEN)).body.data.pricings.monthly).toBe(7.4);
  await goTo('03-04');
  expect(await sales()).toHaveProperty('By hand', 1);
  await provider.endSale(sale);
  expect(await sales()).not.toHaveProperty('By hand');
  expect((await buy('extra', WITH_EXTRAS)).body.data.pricings.monthly).toBe(22.4);

  const path = { identifier: XEON };
  await goTo('03-05 08:00');
  expect((await call('deleteDedicatedServer', { path })).body.data).toEqual({ ...path, termination_date: on('03-13 00:15') });
  await goTo('03-10');
  await provider.remove(vm('web'));
  await goTo('03-13 00:14');
  expect((await call('getDedicatedServer', { path })).body.data.accounting).toMatchObject({ renew: on('03-13 00:15'), terminated: true });
  await goTo('03-13 00:15');
  expect((await call('getDedicatedServer', { path })).status).toBe(404);
  expect((await call('listDedicatedServers')).body.data).toEqual({ list: [] });
  await goTo('03-20');
  await provider.resize(vm('promo'), { cores: 4 }); // the sale has ended, its prices stay: 2.00 + 4.80 + 1.60 = 8.40

  await goTo('03-25 06:00');
  // 24.25 d, 2,095,200 s, since the month began.
  const since = (price: number, cost: number) => [runs('BILLINGRESTART', '03-01', null, price, 2_095_200, cost)];
  await expectCurrent({
    vms: {
      web: [runs('BILLINGRESTART', '03-01', '03-10', 10.4, 777_600, 3.12)], // 9 d: 10.40 x 0.3
      blog: since(3.4, 2.74833333), // 3.40 x 24.25 / 30
      db: since(20, 16.16666667), // 20.00 x 24.25 / 30
      shop: since(4.4, 3.55666667), // 4.40 x 24.25 / 30
      mail: since(10.4, 8.40666667), // 10.40 x 24.25 / 30
      test: since(14, 11.31666667), // 14.00 x 24.25 / 30
      late: since(17, 13.74166667), // 17.00 x 24.25 / 30
      promo: [
        runs('CREATE', '03-02', '03-20', 7.4, 1_555_200, 4.44), // 18 d: 7.40 x 0.6
        runs('UP-DOWNGRADE', '03-20', null, 8.4, 453_600, 1.47), // 5.25 d: 8.40 x 0.175
      ],
      extra: [runs('CREATE', '03-04', null, 22.4, 1_836_000, 15.86666667)], // 21.25 d: 22.40 x 21.25 / 30
    },
    // 3.12 + 69.20 x 24.25 / 30 = 55.936667, + 5.91 + 15.866667 = 80.833333
    total: 80.83,
    // 6.75 d more of 69.20 + 8.40 + 22.40 = 100.00, that is 22.50, make 103.333333.
    estimate: 103.33,
    remaining: 146.67, // 250.00 - 103.33
    next: '04-01',
  });
}

export async function closeMarch({ goTo, call, expectCurrent, expectNewest }: Reseller): Promise<void> {
  await goTo('04-01');
  // 31 d, 2,678,400 s: price x 31 / 30.
  const allMonth = (price: number) => [ran('BILLINGRESTART', '03-01', '04-01', price)];
  await expectNewest({
    count: 3,
    created: '04-01',
    status: 'OPEN',
    vms: {
      web: [ran('BILLINGRESTART', '03-01', '03-10', 10.4)], // 3.12
      blog: allMonth(3.4), // 3.513333
      db: allMonth(20), // 20.666667
      shop: allMonth(4.4), // 4.546667
      mail: allMonth(10.4), // 10.746667
      test: allMonth(14), // 14.466667
      late: allMonth(17), // 17.566667
      promo: [
        ran('CREATE', '03-02', '03-20', 7.4), // 4.44
        ran('UP-DOWNGRADE', '03-20', '04-01', 8.4), // 12 d: 8.40 x 0.4 = 3.36
      ],
      extra: [ran('CREATE', '03-04', '04-01', 22.4)], // 28 d: 22.40 x 28 / 30 = 20.906667
    },
    // 3.12 + 3.513333 + 20.666667 + 4.546667 + 10.746667 + 14.466667 + 17.566667 + 7.80 + 20.906667 = 103.333333
    total: 103.33,
  });
  const { body } = await call('listInvoices');
  const invoices: { total: number; status: string }[] = Object.values(body.data);
  expect(invoices.map(({ total, status }) => [total, status])).toEqual([
    [103.33, 'OPEN'],
    [161.26, 'PAID'],
    [100.32, 'PAID'],
  ]);
  const restarted = (price: number) => [runs('BILLINGRESTART', '04-01', null, price, 0, 0)];
  await expectCurrent({
    vms: {
      blog: restarted(3.4),
      db: restarted(20),
      shop: restarted(4.4),
      mail: restarted(10.4),
      test: restarted(14),
      late: restarted(17),
      promo: restarted(8.4),
      extra: restarted(22.4),
    },
    total: 0,
    estimate: 100, // April has the 30 days that prices are for.
    remaining: 46.67, // 250.00 - 103.33 unpaid - 100.00
    next: '05-01',
  });
}
