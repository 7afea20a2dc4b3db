/**
 * A reseller's quarter, January to March 2027, with every figure of every invoice worked out by hand.
 *
 * A price is one of 30 days, 2,592,000 s, and a position costs price x seconds / 2,592,000. An hour
 * is 3,600 s, a day 86,400 s; January and March have 2,678,400 s, February has 2,419,200 s.
 * Standard prices: nl_ryzen 2.00 a core, 1.20 a GB of memory, 0.04 a GB of NVMe, 1.50 a further
 * address, 0.50 a further backup slot, 5.00 a further Gbit/s; de_epyc 1.50, 1.00, 0.03.
 */
import { test } from 'vitest';

import { expectInvariants } from './invariants.ts';
import { changeInFebruary, closeFebruary } from './quarter/february.ts';
import { buyInJanuary, closeJanuary } from './quarter/january.ts';
import { closeMarch, goThroughMarch } from './quarter/march.ts';
import { startReseller } from './quarter/reseller.ts';

// oxlint-disable-next-line vitest/expect-expect -- the months expect
test("a reseller's quarter: every figure of every invoice", async () => {
  const reseller = await startReseller(250);
  for (const play of [buyInJanuary, closeJanuary, changeInFebruary, closeFebruary, goThroughMarch, closeMarch]) {
    await play(reseller);
    await expectInvariants(reseller.service.store);
  }
});
