import { once } from 'node:events';
import { request } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import type { InvoiceSummary } from '@reseller/client';
import { extractText, getDocumentProxy, getMeta } from 'unpdf';
import { expect, test } from 'vitest';

import { SMALL_VM, startService } from '../../../../test/harness.ts';
import type { TestService } from '../../../../test/harness.ts';
import { invoicesOf, providerOf } from '../../../../test/provider.ts';
import { euros } from '../../../rules/money.ts';
import { chargeOwed } from '../charge.ts';

async function linkOf(service: TestService, apiKey = service.apiKey): Promise<{ id: string; link: string }> {
  const [newest] = await invoicesOf(service, apiKey);
  return { id: newest?.id ?? '', link: newest?.invoice ?? '' };
}

async function open(link: string) {
  const response = await fetch(link);
  const bytes = new Uint8Array(await response.arrayBuffer());
  expect(Buffer.from(bytes.subarray(0, 5)).toString()).toBe('%PDF-');
  const pdf = await getDocumentProxy(bytes);
  const { totalPages, text } = await extractText(pdf, { mergePages: true });
  return { response, pages: totalPages, text: text.replaceAll(/\s+/g, ' '), title: (await getMeta(pdf)).info?.['Title'] };
}

/** A VM that was resized, stopped and started, and a domain. */
async function november(service: TestService): Promise<{ id: string; identifier: number; link: string }> {
  const provider = providerOf(service);
  const account = await service.store.commit(({ db }) =>
    db
      .updateTable('accounts')
      .set({ name: 'Łódź Hosting & Söhne, Αθήνα' })
      .where('name', '=', 'test')
      .returning('id')
      .executeTakeFirstOrThrow(),
  );
  const { identifier } = (await service.call('createVm', { form: SMALL_VM })).body.data;
  const start = service.clock.now() / 1000;
  const domain = {
    accountId: account.id,
    kind: 'domain',
    subject: 'bücher.example',
    type: 'CREATE',
    start,
    stop: start + 31_536_000,
    amount: euros('9.50'),
  } as const;
  await service.store.commit(({ db }) => chargeOwed(db, service.ports, domain, service.clock.now()));
  service.clock.advanceTo('2026-11-20T00:00:00Z');
  await provider.resize(identifier, { cores: 4 });
  service.clock.advanceTo('2026-11-21T00:00:01Z');
  await provider.stop(identifier);
  service.clock.advanceTo('2026-12-03T00:00:00Z');
  return { identifier, ...(await linkOf(service)) };
}

test('the link opens a PDF with every position, without a key', async () => {
  const service = await startService();
  const { id, identifier, link } = await november(service);
  const { response, text, title, pages } = await open(link);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/pdf');
  expect(response.headers.get('cache-control')).toContain('no-store');
  expect(title).toBe(`Invoice ${id}`);
  expect(pages).toBe(1);
  expect(text).toContain(`Number ${id}`);
  expect(text).toContain('Date, UTC 2026-12-01 00:00:00');
  expect(text).toContain('Account Łódź Hosting & Söhne, Αθήνα');
  expect(text).toContain('Period, UTC 2026-11-01 00:00:00 to 2026-12-01 00:00:00');
  // 820,800 s at 10.40 EUR and 86,401 s at 14.40 EUR, of 2,592,000 s.
  expect(text).toContain(`${identifier} CREATE 2026-11-10 12:00:00 2026-11-20 00:00:00 820800 10.40 3.29333333`);
  expect(text).toContain(`${identifier} UP-DOWNGRADE 2026-11-20 00:00:00 2026-11-21 00:00:01 86401 14.40 0.48000556`);
  expect(text).toContain('bücher.example CREATE 2026-11-10 12:00:00 2027-11-10 12:00:00 9.50');
  expect(text).toContain('Virtual servers, EUR 3.77');
  expect(text).toContain('Dedicated servers and domains, EUR 9.50');
  // 3.29333333 + 0.48000556 + 9.50
  expect(text).toContain('Invoice total, EUR 13.27');
});

test('the document is rendered once, and later changes leave it as it is', async () => {
  const service = await startService();
  const { id, link } = await november(service);
  const bytes = async () => Buffer.from(await (await fetch(link)).arrayBuffer());
  const concurrent = await Promise.all(Array.from({ length: 5 }, bytes));
  await providerOf(service).markPaid(id);
  await service.store.commit(({ db }) => db.updateTable('accounts').set({ name: 'Renamed' }).execute());
  for (const one of [...concurrent, await bytes()]) expect(one.equals(concurrent[0] ?? Buffer.of())).toBe(true);
  expect(await service.store.read((db) => db.selectFrom('invoice_documents').select('invoice_id').execute())).toEqual([{ invoice_id: id }]);
  expect((await linkOf(service)).link).toBe(link);
});

test('a link expires, and the service returns a new one that opens the same document', async () => {
  const service = await startService();
  const { link } = await november(service);
  const expires = Number(new URL(link).searchParams.get('expires'));
  expect(expires).toBe(Date.parse('2027-01-02T00:00:00Z') / 1000);
  const before = await open(link);
  service.clock.advanceTo('2027-01-01T23:59:59.999Z');
  expect((await fetch(link)).status).toBe(200);
  service.clock.advance(1);
  const { pathname, search } = new URL(link);
  const expired = await service.send(pathname + search);
  expect([expired.status, expired.body.message]).toEqual([404, expect.stringContaining('has expired')]);
  expect(await service.send(`${pathname}${search.replace(String(expires), String(expires + 86_400))}`)).toMatchObject({ status: 404 });
  const summaries: InvoiceSummary[] = Object.values((await service.call('listInvoices')).body.data);
  const renewed = summaries.find(({ invoice }) => new URL(invoice).pathname === pathname)?.invoice ?? '';
  expect(renewed).not.toBe(link);
  expect((await open(renewed)).text).toBe(before.text);
});

test('wraps a name that is longer than its column', async () => {
  const service = await startService();
  const { id, apiKey } = await service.account();
  const subject = `${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.example`;
  const domain = { accountId: id, kind: 'domain', subject, type: 'CREATE', start: 0, stop: 1, amount: euros('9.50') } as const;
  await service.store.commit(({ db }) => chargeOwed(db, service.ports, domain, service.clock.now()));
  await service.store.commit(({ db }) => chargeOwed(db, service.ports, { ...domain, subject: 'after.example' }, service.clock.now()));
  service.clock.advanceTo('2026-12-01T00:00:00Z');
  const { text, pages } = await open((await linkOf(service, apiKey)).link);
  expect(text.replaceAll(' ', '')).toContain(subject);
  expect(text).toContain('after.example CREATE');
  expect(pages).toBe(1);
});

test('continues many positions on further pages, and none is missing', async () => {
  const service = await startService({ creditLimit: '10000.00' });
  const bought = await Promise.all(Array.from({ length: 120 }, () => service.call('createVm', { form: SMALL_VM })));
  service.clock.advanceTo('2026-12-01T00:00:00Z');
  const { text, pages } = await open((await linkOf(service)).link);
  expect(pages).toBeGreaterThan(2);
  for (const { body } of bought) expect(text).toContain(`${body.data.identifier} CREATE`);
  // 120 x 10.40 x 20.5 / 30
  expect(text).toContain('Invoice total, EUR 852.80');
});

test('a wrong signature, none, another invoice’s, or an unknown invoice: 404 in the envelope', async () => {
  const service = await startService();
  const { link } = await november(service);
  const { apiKey } = await service.account();
  await service.call('createVm', { form: SMALL_VM, apiKey });
  service.clock.advanceTo('2027-01-01T00:00:00Z');
  const other = new URL((await linkOf(service, apiKey)).link);
  const { pathname, searchParams, search } = new URL(link);
  const signature = searchParams.get('signature') ?? '';
  const until = `expires=${searchParams.get('expires')}`;
  const wrong = [
    pathname,
    `${pathname}?${until}&signature=`,
    `${pathname}?${until}&signature=${signature.slice(0, -1)}`,
    `${pathname}?${until}&signature=${signature}A`,
    `${pathname}?${until}&signature=${signature.toUpperCase()}`,
    `${pathname}?${until}&signature=${signature}&signature=${signature}`,
    `${pathname}?${until}&signature[]=${signature}`,
    `${pathname}?${until}&signature=%00`,
    `${pathname}?signature=${signature}`,
    `${pathname}?expires=&signature=${signature}`,
    `${pathname}?expires=9${search.slice('?expires='.length)}`,
    `${pathname}?expires=1e9&signature=${signature}`,
    `${pathname}${other.search}`,
    `${pathname.replace('.pdf', '')}${search}`,
    `${pathname}.pdf${search}`,
    `/invoices/.pdf${search}`,
    `/invoices/b7d7f0f4-5a6e-5b0f-9d0c-0f8c1a1d7f5e.pdf${search}`,
    `/invoices/%00.pdf${search}`,
  ];
  for (const path of wrong)
    expect(await service.send(path), `${path}`).toMatchObject({ status: 404, body: { type: 'not_found', data: null } });
  // An API key opens nothing either.
  expect(await service.send(pathname, { headers: { 'x-service-apikey': service.apiKey } })).toMatchObject({ status: 404 });
});

test('links begin with the public URL of the service, not with the host of the request', async () => {
  const invoiceLink = async (service: TestService): Promise<string | undefined> => {
    const { port } = new URL(service.baseUrl);
    const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example', 'x-service-apikey': service.apiKey };
    const [response] = await once(request({ port, path: '/accounting/invoices', headers }).end(), 'response');
    const answer = await textOf(response);
    expect(answer).not.toContain('evil');
    const { data }: { data: Readonly<Record<string, InvoiceSummary>> } = JSON.parse(answer);
    return Object.values(data)[0]?.invoice;
  };
  const bare = await startService();
  const configured = await startService({ publicUrl: 'https://api.example.com/reseller/' });
  for (const service of [bare, configured]) {
    await service.call('createVm', { form: SMALL_VM });
    service.clock.advanceTo('2026-12-01T00:00:00Z');
  }
  expect(await invoiceLink(bare)).toMatch(new RegExp(`^${bare.baseUrl}/invoices/`));
  expect(await invoiceLink(configured)).toMatch(/^https:\/\/api\.example\.com\/reseller\/invoices\//);
});
