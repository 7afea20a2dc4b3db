import { once } from 'node:events';
import { request } from 'node:http';
import { text as textOf } from 'node:stream/consumers';

import type { InvoiceSummary } from '@reseller/client';
import * as operator from '@reseller/operator-client';
import { extractText, getDocumentProxy, getMeta } from 'unpdf';
import { expect, test, vi } from 'vitest';

import { SMALL_VM, startService } from '../../../../test/harness.ts';
import type { TestService } from '../../../../test/harness.ts';
import { newInstances } from '../../../../test/instances.ts';
import { expectInvariants } from '../../../../test/invariants.ts';
import { startOperator } from '../../../../test/operator.ts';
import { invoicesOf, providerOf } from '../../../../test/provider.ts';
import { euros } from '../../../rules/money.ts';
import { demoBillingProfile, undated, sandboxSeller } from '../../../sandbox/seller.ts';
import { createAccount } from '../../account/account.ts';
import { chargeOwed } from '../charge.ts';
import { issueDocuments } from './issue.ts';
import { writeBillingProfile } from './parties.ts';
import { contentOf, headOf, storedContentOf } from './stored-content.ts';

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
  const start = Math.floor(service.clock.now() / 1000);
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

test('a document is the same whether its lines are written before its transaction or in it', async () => {
  const documents = await Promise.all(
    [1, 2, 3, 250].map(async (documentLines) => {
      const service = await startService({ tuning: { documentLines } });
      await november(service);
      await service.runScheduledJobs();
      const [document, ...others] = await service.store.read((db) => db.selectFrom('issued_documents').selectAll().execute());
      expect(others).toEqual([]);
      const stored = storedContentOf(document ?? { content: '' });
      const content = await contentOf(stored);
      // Each document has another VM.
      const lines = content.groups.flatMap((group) => group.lines.map((line) => ({ ...line, details: line.details.replace(/\d+/, '') })));
      return { isCompressed: stored.groups.some((group) => 'parts' in group.lines), lines, head: headOf(stored) };
    }),
  );
  expect(documents.map(({ isCompressed }) => isCompressed)).toEqual([true, true, false, false]);
  const [first] = documents;
  expect(first?.lines).toHaveLength(3);
  for (const { lines, head } of documents) expect({ lines, head }).toEqual({ lines: first?.lines, head: first?.head });
});

test('lines that were written before the transaction are written again if the language has changed meanwhile', async () => {
  const service = await startService({ tuning: { documentLines: 1 } });
  const { id, apiKey } = await service.account();
  const { store } = service;
  const speak = (language: 'de' | 'en') =>
    store.commit(({ db }) => writeBillingProfile(db, id, { ...undated(demoBillingProfile), language }, service.clock.now()));
  await speak('en');
  await service.call('createVm', { form: SMALL_VM, apiKey });
  const readLong = store.readLong.bind(store);
  vi.spyOn(store, 'readLong').mockImplementation(async (work) => {
    const result = await readLong(work);
    await speak('de');
    return result;
  });
  service.clock.advanceTo('2026-12-03T00:00:00Z');
  await service.runScheduledJobs();
  expect(store.readLong).toHaveBeenCalledTimes(1);
  const { content } = await store.read((db) => db.selectFrom('issued_documents').select('content').executeTakeFirstOrThrow());
  expect(JSON.parse(content)).toMatchObject({ language: 'de', groups: [{ lines: [{ details: expect.stringContaining('2 Kerne,') }] }] });
});

test('opens a PDF with every line from the link, without an API key', async () => {
  const service = await startService();
  const { identifier, link } = await november(service);
  const { response, text, title, pages } = await open(link);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/pdf');
  expect(response.headers.get('cache-control')).toContain('no-store');
  expect(title).toBe('Invoice INV-00001');
  expect(pages).toBe(1);
  expect(text).toContain('Sandbox Infrastructure GmbH');
  expect(text).toContain('Łódź Hosting & Söhne, Αθήνα');
  expect(text).toContain('Number INV-00001');
  expect(text).toContain('Date 2026-12-01 Due date 2026-12-15 Period 2026-11-01 01:00 to 2026-12-01 01:00 Currency EUR');
  // 820,603 s at 10.40 EUR and 86,401 s at 14.40 EUR, of 2,592,000 s: 3.29254290 + 0.48000556, rounded to 3.77.
  expect(text).toContain(`VM ${identifier}, 2 cores, 4 GB memory, 40 GB NVMe, nl_ryzen`);
  expect(text).toContain('2026-11-10 13:03:17 – 2026-11-20 01:00 9 d 11 h 56 min 43 s 10.40 / 30 d 3.29');
  expect(text).toContain(`VM ${identifier}, 4 cores, 4 GB memory, 40 GB NVMe, nl_ryzen`);
  expect(text).toContain('2026-11-20 01:00 – 2026-11-21 01:00:01 1 d 1 s 14.40 / 30 d 0.48');
  expect(text).toContain('Sum of virtual servers 3.77');
  expect(text).toContain('bücher.example Registration, in advance 2026-11-10 – 2027-11-10 1 9.50 9.50');
  expect(text).toContain('Sum of domains 9.50');
  // 3.29254290 + 0.48000556 + 9.50
  expect(text).toContain('Net amount, EUR 13.27 VAT 19 % on 13.27, EUR 2.52 Total, EUR 15.79');
  expect(text).toContain('15.79 EUR by 2026-12-15 to DE02120300000000202051');
  expect(text).toContain('page 1 of 1');
  await expectInvariants(service.store);
});

test('does not change an issued document after a payment or a change of seller, buyer or VAT rate', async () => {
  const service = await startOperator();
  const { id, link } = await november(service);
  const bytes = async () => Buffer.from(await (await fetch(link)).arrayBuffer());
  const before = await bytes();
  const { accountId } = await service.store.read(async (db) =>
    db.selectFrom('invoices').select('account_id as accountId').where('id', '=', id).executeTakeFirstOrThrow(),
  );
  const put = (path: string, body: object) =>
    service.operate(path, { method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  expect((await put('/invoicing/seller', { ...sandboxSeller, company: 'Another GmbH' })).status).toBe(200);
  expect((await put(`/accounts/${accountId}/billing-profile`, demoBillingProfile)).status).toBe(200);
  const vat_rates = [
    { basis_points: 1_900, valid_from: '1970-01-01' },
    { basis_points: 2_500, valid_from: '2999-01-01' },
  ];
  expect((await put('/settings/vat-rates', { vat_rates })).status).toBe(200);
  await providerOf(service).markPaid(id);
  expect((await bytes()).equals(before)).toBe(true);
  expect((await linkOf(service)).link).toBe(link);
});

test('serves the same document as XML by a link, and has it in the PDF', async () => {
  const service = await startOperator();
  const { id, apiKey } = await service.account();
  await service.store.commit(({ db }) => writeBillingProfile(db, id, undated(demoBillingProfile), 0));
  await service.call('createVm', { form: SMALL_VM, apiKey });
  service.clock.advanceTo('2026-12-03T00:00:00Z');
  await service.runScheduledJobs();
  const [document] = (await service.call('listDocuments', { apiKey })).body.data.list;
  const response = await fetch(document.xml);
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/xml']);
  expect(response.headers.get('content-disposition')).toBe(`inline; filename="${document.number}.xml"`);
  const xml = await response.text();
  expect(xml).toContain(`<ram:ID>${document.number}</ram:ID>`);
  expect(xml).toContain('<ram:GrandTotalAmount>8.46</ram:GrandTotalAmount>');
  const pdf = await getDocumentProxy(new Uint8Array(await (await fetch(document.document)).arrayBuffer()));
  const attachments = await pdf.getAttachments();
  expect(attachments?.size).toBe(1);
  expect(Buffer.from((await pdf.getAttachmentContent('factur-x.xml')) ?? []).toString()).toBe(xml);
  const detail = await operator.getInvoice({ client: service.client, path: { invoice_id: document.invoiceID } });
  expect(detail.xml).toBe(document.xml);
  expect((await fetch(document.xml.replace('signature=', 'signature=x'))).status).toBe(404);
});

test('an account without a billing profile has no XML, and the response says why', async () => {
  const service = await startOperator();
  await service.call('createVm', { form: SMALL_VM });
  service.clock.advanceTo('2026-12-03T00:00:00Z');
  await service.runScheduledJobs();
  const [document] = (await service.call('listDocuments')).body.data.list;
  const { status, body } = await service.send(document.xml.slice(service.baseUrl.length));
  expect([status, body.message]).toEqual([404, expect.stringContaining('the account had no billing profile when it was issued')]);
  const pdf = await getDocumentProxy(new Uint8Array(await (await fetch(document.document)).arrayBuffer()));
  expect(await pdf.getAttachments()).toBeNull();
});

test('an invoice that the balance pays says so, and asks only for the rest', async () => {
  const service = await startOperator();
  const { client } = service;
  const { id: account_id, apiKey } = await service.account();
  await service.call('createVm', { form: SMALL_VM, apiKey });
  const body = { amount: '8.00', date: '2026-11-10', method: 'bank_transfer', reference: 'In advance' };
  await operator.recordPayment({ client, path: { account_id, payment: 'one' }, body });
  service.clock.advanceTo('2026-12-03T00:00:00Z');
  await service.runScheduledJobs();
  const [document] = (await service.call('listDocuments', { apiKey })).body.data.list;
  expect(document).toMatchObject({ gross: 8.46, unpaid: 0.46 });
  const { text } = await open(document.document);
  expect(text).toContain('Total, EUR 8.46 Paid with your balance, EUR 8.00 Left to pay, EUR 0.46');
  expect(text).toContain('Please transfer 0.46 EUR by 2026-12-15');
  const path = { invoice_id: document.invoiceID, credit_note: 'outage' };
  await operator.createCreditNote({ client, path, body: { amount: '1.00', reason: 'Outage' } });
  const { list } = (await service.call('listDocuments', { apiKey })).body.data;
  const note = await open(list.find(({ kind }: { kind: string }) => kind === 'credit_note').document);
  expect(note.text).toContain('Total in your favour, EUR 1.19');
  expect(note.text).not.toMatch(/Paid with your balance|Left to pay/);
  await expectInvariants(service.store);
});

test('says that a buyer with reverse charge owes the VAT', async () => {
  const service = await startService();
  const { id, apiKey } = await service.account();
  await service.store.commit(({ db }) =>
    writeBillingProfile(
      db,
      id,
      undated({ ...demoBillingProfile, company: 'Musterhost Kft.', country: 'HU', vat_id: 'HU12345678', reverse_charge: true }),
      0,
    ),
  );
  const domain = {
    accountId: id,
    kind: 'domain',
    subject: 'abroad.example',
    type: 'RENEW',
    start: 0,
    stop: 1,
    amount: euros('9.50'),
  } as const;
  await service.store.commit(({ db }) => chargeOwed(db, service.ports, domain, service.clock.now()));
  service.clock.advanceTo('2026-12-01T00:00:00Z');
  await service.runScheduledJobs();
  const [invoice] = await service.store.read((db) => db.selectFrom('issued_documents').selectAll().where('account_id', '=', id).execute());
  expect(invoice).toMatchObject({
    net: Number(euros('9.50')),
    vat: 0,
    vat_by_rate: '[{"basisPoints":0,"reverseCharge":true,"net":950000000,"vat":0}]',
  });
  const { text } = await open((await linkOf(service, apiKey)).link);
  expect(text).toContain('Musterhost Kft.');
  expect(text).toContain('VAT ID HU12345678');
  expect(text).toContain('Reverse charge: the recipient owes the VAT');
  expect(text).toContain('VAT 0 % (reverse charge) on 9.50, EUR 0.00 Total, EUR 9.50');
});

test('shows the rate of each line and a sum for each rate if the rate changed in the period', async () => {
  const service = await startOperator();
  const vat_rates = [
    { basis_points: 1_900, valid_from: '1970-01-01' },
    { basis_points: 1_600, valid_from: '2026-11-16' },
  ];
  await operator.setVatRates({ client: service.client, body: { vat_rates } });
  const { link } = await november(service);
  const { text } = await open(link);
  expect(text).toContain('2026-11-10 13:03:17 – 2026-11-16 00:00 · VAT 19 % 5 d 10 h 56 min 43 s 10.40 / 30 d 1.89');
  expect(text).toContain('2026-11-16 00:00 – 2026-11-20 01:00 · VAT 16 % 4 d 1 h 10.40 / 30 d 1.40');
  expect(text).toContain('Net amount, EUR 13.27 VAT 19 % on 11.39, EUR 2.16 VAT 16 % on 1.88, EUR 0.30 Total, EUR 15.73');
  await expectInvariants(service.store);
});

test('issues no document without a seller, and issues all in the order of their periods when the seller is set', async () => {
  const service = await startOperator();
  await service.store.commit(({ db }) => db.deleteFrom('settings').where('name', '=', 'seller').execute());
  await service.call('createVm', { form: SMALL_VM });
  service.clock.advanceTo('2027-02-01T00:00:00Z');
  await service.runScheduledJobs();
  const { link, id } = await linkOf(service);
  expect((await service.send(link.slice(service.baseUrl.length))).status).toBe(404);
  expect((await service.operate(`/invoices/${id}`)).body).toMatchObject({
    number: null,
    due: null,
    vat: null,
    gross: null,
    credit_notes: [],
  });
  expect((await service.operate('/invoicing/seller')).body).toEqual({ seller: null });
  const body = JSON.stringify(sandboxSeller);
  await service.operate('/invoicing/seller', { method: 'PUT', headers: { 'content-type': 'application/json' }, body });
  await service.runScheduledJobs();
  const issued = await service.store.read((db) => db.selectFrom('invoices').select(['number', 'period_start']).orderBy('number').execute());
  expect(issued.map(({ number }) => number)).toEqual(['INV-00001', 'INV-00002', 'INV-00003']);
  expect(issued.map(({ period_start }) => period_start)).toEqual(
    issued.map(({ period_start }) => period_start).toSorted((one, other) => one - other),
  );
  expect((await open(link)).title).toBe('Invoice INV-00003');
});

test('keeps numbers consecutive while two transactions issue documents concurrently', { tags: 'outer' }, async () => {
  const instances = await newInstances();
  const [one, other] = [await instances.start(), await instances.start()];
  for (let n = 0; n < 30; n++) {
    await one.store.commit(async ({ db }) => {
      const accountId = await createAccount(db, instances.ports, { name: `account ${n}`, creditLimit: euros('100.00') });
      const charge = {
        accountId,
        kind: 'domain',
        subject: `${n}.example`,
        type: 'CREATE',
        start: 0,
        stop: 1,
        amount: euros('1.00'),
      } as const;
      await chargeOwed(db, instances.ports, charge, instances.clock.now());
    });
  }
  instances.clock.advanceTo('2026-12-01T00:00:00Z');
  await Promise.all([one, other].map(({ service }) => service.runScheduledJobs()));
  await Promise.all([one, other].map(({ store }) => issueDocuments(store)));
  const numbers = await one.store.read((db) => db.selectFrom('issued_documents').select('number').orderBy('number').execute());
  expect(numbers.map(({ number }) => number)).toEqual(Array.from({ length: 30 }, (_, n) => `INV-${String(n + 1).padStart(5, '0')}`));
});

test('renders the document once, and later changes do not affect it', async () => {
  const service = await startService();
  const { id, link } = await november(service);
  const bytes = async () => Buffer.from(await (await fetch(link)).arrayBuffer());
  const concurrent = await Promise.all(Array.from({ length: 5 }, bytes));
  await providerOf(service).markPaid(id);
  await service.store.commit(({ db }) => db.updateTable('accounts').set({ name: 'Renamed' }).execute());
  for (const one of [...concurrent, await bytes()]) expect(one.equals(concurrent[0] ?? Buffer.of())).toBe(true);
  expect(await service.store.read((db) => db.selectFrom('issued_documents').select('id').where('pdf', 'is not', null).execute())).toEqual([
    { id },
  ]);
  expect((await linkOf(service)).link).toBe(link);
});

test('refuses an expired link, and returns a new one that opens the same document', async () => {
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
  expect(text).toContain('after.example');
  expect(pages).toBe(1);
});

test('continues many positions on further pages without losing any', async () => {
  const service = await startService({ creditLimit: '10000.00' });
  const bought = await Promise.all(Array.from({ length: 120 }, () => service.call('createVm', { form: SMALL_VM })));
  service.clock.advanceTo('2026-12-01T00:00:00Z');
  const { text, pages } = await open((await linkOf(service)).link);
  expect(pages).toBeGreaterThan(2);
  for (const { body } of bought) expect(text).toContain(`VM ${body.data.identifier}, 2 cores`);
  // 120 x 10.40 x 1,771,003 / 2,592,000 = 852.70514815
  expect(text).toContain('Net amount, EUR 852.71');
  for (let page = 1; page <= pages; page++) expect(text).toContain(`page ${page} of ${pages}`);
});

test('responds with 404 in the envelope to a wrong or missing signature, that of another invoice, and an unknown invoice', async () => {
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
  // An API key does not open a document either.
  expect(await service.send(pathname, { headers: { 'x-service-apikey': service.apiKey } })).toMatchObject({ status: 404 });
});

test('returns links with the public URL of the service, not with the host of the request', async () => {
  const invoiceLink = async (service: TestService): Promise<string | undefined> => {
    const { port } = new URL(service.baseUrl);
    const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example', 'x-service-apikey': service.apiKey };
    const [response] = await once(request({ port, path: '/accounting/invoices', headers }).end(), 'response');
    const body = await textOf(response);
    expect(body).not.toContain('evil');
    const { data }: { data: Readonly<Record<string, InvoiceSummary>> } = JSON.parse(body);
    return Object.values(data)[0]?.invoice;
  };
  const allowedHosts = ['evil.example'];
  const bare = await startService({ allowedHosts });
  const configured = await startService({ allowedHosts, publicUrl: 'https://api.example.com/reseller/' });
  for (const service of [bare, configured]) {
    await service.call('createVm', { form: SMALL_VM });
    service.clock.advanceTo('2026-12-01T00:00:00Z');
  }
  expect(await invoiceLink(bare)).toMatch(new RegExp(`^${bare.baseUrl}/invoices/`));
  expect(await invoiceLink(configured)).toMatch(/^https:\/\/api\.example\.com\/reseller\/invoices\//);
});

test('a document is in the language of the account, with times in the time zone of the provider', async () => {
  const service = await startOperator();
  const { client } = service;
  await operator.setVatRates({
    client,
    body: { vat_rates: [{ basis_points: 1_900, valid_from: '2007-01-01' }], time_zone: 'America/New_York' },
  });
  const { id: account_id, apiKey } = await service.account();
  const body = { ...demoBillingProfile, language: 'de' as const };
  await operator.setBillingProfile({ client, path: { account_id }, body });
  await service.call('createVm', { form: SMALL_VM, apiKey });
  service.clock.advanceTo('2026-12-03T00:00:00Z');
  await service.runScheduledJobs();
  const { items } = await operator.listInvoices({ client, query: { account_id } });
  const path = { invoice_id: items[0]?.id ?? '', credit_note: 'one' };
  await operator.createCreditNote({ client, path, body: { amount: '1.00', reason: 'Ausfall' } });
  const [note, document] = (await service.call('listDocuments', { apiKey })).body.data.list;
  const { text } = await open(document.document);
  for (const part of [
    'Rechnung Sandbox Infrastructure GmbH',
    'Zeitraum 2026-10-31 20:00 bis 2026-11-30 19:00',
    'Zeiten in America/New_York',
    '2 Kerne, 4 GB Arbeitsspeicher',
    '2026-11-10 07:03:17 – 2026-11-30 19:00',
    'Summe Virtuelle Server 7,11',
    'USt 19 % auf 7,11, EUR 1,35 Gesamtbetrag, EUR 8,46',
    'Bitte überweisen Sie 8,46 EUR bis zum 2026-12-15',
  ])
    expect(text).toContain(part);
  expect((await open(note.document)).text).toContain('Rechnungskorrektur');
  expect(await (await fetch(document.xml)).text()).toContain('Bitte überweisen Sie 8,46 EUR');
});
