import { setImmediate as nextTurn } from 'node:timers/promises';

import { expect, onTestFinished, test } from 'vitest';

import { sandboxSeller } from '../../../sandbox/seller.ts';
import type { DocumentContent } from './content.ts';
import { renderDocument } from './pdf.ts';
import { createDocumentRenderer } from './renderer.ts';

const line = {
  title: 'web1',
  details: 'VM 10000',
  time: '',
  quantity: '1 s',
  unitPrice: '10.40 / 30 d',
  amount: '0.01',
  basisPoints: 1_900,
};

const content = (lines: number): DocumentContent => ({
  kind: 'invoice',
  number: 'INV-00001',
  date: '2026-12-01',
  due: '2026-12-15',
  seller: sandboxSeller,
  buyer: { company: 'Łódź Hosting' },
  period: { first: '2026-11-01', last: '2026-11-30' },
  corrects: null,
  groups: [{ title: 'Virtual servers', lines: Array.from({ length: lines }, () => line), total: '0.01' }],
  net: '0.01',
  vat: [{ basisPoints: 1_900, net: '0.01', amount: '0.00' }],
  gross: '0.01',
  reverseCharge: false,
});

function renderer(maxWaiting?: number) {
  const one = createDocumentRenderer(maxWaiting);
  onTestFinished(() => one.close());
  return one;
}

test('renders the same bytes as on the main thread, without blocking the event loop', async () => {
  const { render } = renderer();
  const progress = { turns: 0, isRendered: false };
  const rendered = render(content(500)).finally(() => (progress.isRendered = true));
  for (; !progress.isRendered; progress.turns++) await nextTurn();
  expect(progress.turns).toBeGreaterThan(100);
  expect(Buffer.from(await rendered).equals(await renderDocument(content(500)))).toBe(true);
});

test('refuses documents if too many wait, and renders those that wait', async () => {
  const { render } = renderer(1);
  const [first, second, third] = await Promise.allSettled([render(content(1)), render(content(1)), render(content(1))]);
  expect([first?.status, second?.status]).toEqual(['fulfilled', 'fulfilled']);
  expect(third).toMatchObject({ reason: { status: 503, type: 'unavailable' } });
  expect((await render(content(1))).length).toBeGreaterThan(1_000);
});

test('renders the next document after one that cannot be rendered', async () => {
  const { render } = renderer();
  await expect(render({ ...content(1), date: 'never' })).rejects.toThrow(/Invalid/);
  expect((await render(content(1))).length).toBeGreaterThan(1_000);
});

test('a long document delays no short one', async () => {
  const { render } = renderer();
  const order: string[] = [];
  const long = render(content(1_001)).then(() => order.push('long'));
  const short = render(content(1_000)).then(() => order.push('1,000 lines'));
  const shortest = render(content(1)).then(() => order.push('1 line'));
  await Promise.all([short, shortest]);
  const another = render(content(1)).then(() => order.push('1 line again'));
  await Promise.all([long, another]);
  expect(order.filter((name) => name !== 'long')).toEqual(['1,000 lines', '1 line', '1 line again']);
  // The thread of short documents did not wait for the long one.
  const waiting = render(content(2_000)).then(() => order.push('2,000 lines'));
  await render(content(1)).then(() => order.push('last'));
  await waiting;
  expect(order.slice(-2)).toEqual(['last', '2,000 lines']);
});
