import { setImmediate as nextTurn } from 'node:timers/promises';

import { expect, onTestFinished, test } from 'vitest';

import type { InvoiceContent, VmLine } from './content.ts';
import { renderInvoice } from './pdf.ts';
import { createInvoiceRenderer } from './renderer.ts';

const line: VmLine = { vmId: 10_000, type: 'CREATE', start: 0, stop: 1, runtime: 1, monthlyPrice: 1n, price: 1n };

const content = (lines: number): InvoiceContent => ({
  number: 'one',
  account: 'Łódź Hosting',
  created: 0,
  periodStart: 0,
  periodEnd: 1,
  vms: Array.from({ length: lines }, () => line),
  charges: [],
  vmTotal: 1n,
  chargeTotal: 0n,
  total: 1n,
});

function renderer(maxWaiting?: number) {
  const one = createInvoiceRenderer(maxWaiting);
  onTestFinished(() => one.close());
  return one;
}

test('renders the same bytes as the event loop would, while the event loop goes on', async () => {
  const { render } = renderer();
  const progress = { turns: 0, isRendered: false };
  const rendered = render(content(2_000)).finally(() => (progress.isRendered = true));
  for (; !progress.isRendered; progress.turns++) await nextTurn();
  expect(progress.turns).toBeGreaterThan(100);
  expect(Buffer.from(await rendered).equals(await renderInvoice(content(2_000)))).toBe(true);
});

test('refuses documents when too many wait, and renders those that waited', async () => {
  const { render } = renderer(1);
  const [first, second, third] = await Promise.allSettled([render(content(1)), render(content(1)), render(content(1))]);
  expect([first?.status, second?.status]).toEqual(['fulfilled', 'fulfilled']);
  expect(third).toMatchObject({ reason: { status: 503, type: 'unavailable' } });
  expect((await render(content(1))).length).toBeGreaterThan(1_000);
});

test('after a document that cannot be rendered, the next one is rendered', async () => {
  const { render } = renderer();
  await expect(render({ ...content(1), created: Number.NaN })).rejects.toThrow(/Invalid/);
  expect((await render(content(1))).length).toBeGreaterThan(1_000);
});
