/** What only the extension has: the feed of events, and prices that are too high. */
import { createReseller, CursorExpiredError, eventPages, PriceTooHighError } from '@reseller/client/extension';
import type { EventPage } from '@reseller/client/extension';
import { forms } from '@reseller/testing';
import { createServiceInside } from '@reseller/testing/inside';
import { expect, onTestFinished, test } from 'vitest';

const VM = forms.createVm.smallest;

async function start() {
  const inside = await createServiceInside();
  onTestFinished(() => inside.close());
  const { apiKey, fetch, clock } = inside;
  return { inside, reseller: createReseller({ apiKey, baseUrl: 'http://reseller.test', fetch, clock }) };
}

test('the pages of the feed continue after a stored cursor, while further events arrive, and none is lost or doubled', async () => {
  const { reseller } = await start();
  const made: number[] = [];
  const read: number[] = [];
  const make = async () => void made.push((await reseller.vm.create(VM)).identifier);
  const keep = ({ events }: EventPage) => read.push(...events.flatMap((event) => (event.type === 'vm.created' ? [event.data.vmid] : [])));
  for (let count = 0; count < 5; count++) await make();
  let cursor: string | undefined;
  for await (const page of eventPages(reseller, { limit: 2 })) {
    keep(page);
    ({ cursor } = page);
    if (made.length < 8) await make();
    // The program ends here, and another one continues.
    if (read.length >= 3) break;
  }
  for await (const page of eventPages(reseller, { limit: 2, ...(cursor !== undefined && { cursor }) })) keep(page);
  expect(read).toEqual(made);
});

test('a cursor whose next events were deleted has a class of its own', async () => {
  const { inside, reseller } = await start();
  await reseller.vm.create(VM);
  for await (const { events } of eventPages(reseller)) expect(events.length).toBeGreaterThan(0);
  await inside.store.commit(({ db }) => db.updateTable('event_feeds').set({ deleted: 1 }).execute());
  await expect(eventPages(reseller, { cursor: '0' }).next()).rejects.toBeInstanceOf(CursorExpiredError);
  expect(await eventPages(reseller).next()).toMatchObject({ done: false });
});

test('a price above max_price is refused with the price asked and the one accepted', async () => {
  const { reseller } = await start();
  const { price } = await reseller.vm.quoteCreate(VM);
  const error = await reseller.vm.create({ ...VM, max_price: '0.01' }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(PriceTooHighError);
  expect(error).toMatchObject({ price: price.net, maxPrice: 0.01, uncertain: false });
});
