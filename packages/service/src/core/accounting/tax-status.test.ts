/** Each supply is taxed by the status that the buyer has at its time, through both APIs and on both engines. */
import type { InvoiceSummary, Sale } from '@reseller/client';
import type { AccountingDocument } from '@reseller/client/extension';
import * as operator from '@reseller/operator-client';
import { extractText, getDocumentProxy } from 'unpdf';
import { describe, expect, test } from 'vitest';

import { chargeAwkwardPrices } from '../../../test/awkward-prices.ts';
import { RYZEN } from '../../../test/dedicated.ts';
import { register } from '../../../test/domains.ts';
import { engines } from '../../../test/engines.ts';
import { SMALL_VM } from '../../../test/harness.ts';
import { expectInvariants } from '../../../test/invariants.ts';
import { refusalOf, startOperator } from '../../../test/operator.ts';
import { providerOf } from '../../../test/provider.ts';

const ADDRESS = { company: 'Musterhost', street: 'Ring 1', postal_code: '1010', city: 'Wien' };
const AT_HOME = { country: 'DE', vat_id: 'DE987654321', reverse_charge: false };
const ABROAD = { country: 'AT', vat_id: 'ATU12345678', reverse_charge: true };

async function startAccount(engine: (typeof engines)[number] = 'sqlite') {
  const service = await startOperator({ engine, tuning: { queueFiguresMs: 0 } });
  const { client } = service;
  const { id: account_id, apiKey } = await service.account();
  const path = { account_id };
  return {
    service,
    client,
    apiKey,
    path,
    set: (status: typeof AT_HOME | { vat_id: null }, valid_from?: string) =>
      operator.setBillingProfile({
        client,
        path,
        body: { ...ADDRESS, ...AT_HOME, ...status, ...(valid_from !== undefined && { valid_from }) },
      }),
    /** The documents of the account at an instant, newest first. */
    async documents(instant: string): Promise<AccountingDocument[]> {
      service.clock.advanceTo(instant);
      await service.runScheduledJobs();
      return (await service.call('listDocuments', { apiKey })).body.data.list;
    },
    xmlOf: async ({ xml = '' }: Partial<AccountingDocument> = {}) => (await fetch(xml)).text(),
    domainPrice: async () => (await service.call('getDomainPricings', { apiKey })).body.data.net,
  };
}

describe.each(engines)('on %s', (engine) => {
  test('the first profile of an account that bought nothing holds from the beginning, so what is paid can be spent', async () => {
    const { service, client, apiKey, path, set } = await startAccount(engine);
    await operator.setCreditLimit({ client, path, body: { credit_limit: '0.00' } });
    await set(ABROAD);
    const body = { amount: '119.00', date: '2026-11-10', method: 'bank_transfer', reference: 'R' };
    await operator.recordPayment({ client, path: { ...path, payment: 'first' }, body });
    expect((await service.call('getCredit', { apiKey })).body.data.remaining).toBe(119);
  });

  test('a charge keeps its VAT when the buyer gets reverse charge before the month is invoiced', async () => {
    const { service, apiKey, set, documents, domainPrice } = await startAccount(engine);
    await set(AT_HOME);
    const { price_gross: shown } = await domainPrice();
    await register(service, 'bought.net', apiKey);
    service.clock.advanceTo('2026-11-30T22:30:00Z');
    await set(ABROAD);
    const [invoice] = await documents('2026-12-01T00:00:00Z');
    expect(invoice).toMatchObject({ gross: shown.create, vat: [{ rate: 19 }] });
    await expectInvariants(service.store);
  });

  test('a running VM has lines with each treatment, split at midnight in Berlin, and credit notes correct both', async () => {
    const { service, client, apiKey, set, documents, xmlOf } = await startAccount(engine);
    await chargeAwkwardPrices(service);
    await set(AT_HOME);
    await set(ABROAD, '2026-11-16');
    service.clock.advanceTo('2026-11-11T07:13:37Z');
    await service.call('createVm', { form: SMALL_VM, apiKey });
    const [invoice] = await documents('2026-12-01T00:00:00Z');
    const { content } = await service.store.read((db) => db.selectFrom('issued_documents').select('content').executeTakeFirstOrThrow());
    const [{ lines }] = JSON.parse(content).groups;
    // From 07:13:37 on the 11th to 23:00 on the 15th, and from there to the end of the month, in UTC.
    expect(
      lines.map(({ basisPoints, reverseCharge, measured }: Record<string, { quantity: number }>) => [
        basisPoints,
        reverseCharge,
        measured?.quantity,
      ]),
    ).toEqual([
      [1900, undefined, 402_383],
      [0, true, 1_299_600],
    ]);
    const [home, abroad] = invoice?.vat ?? [];
    expect(invoice?.vat).toMatchObject([{ rate: 19 }, { rate: 0, amount: 0 }]);
    expect(home?.amount).toBe(Math.round((home?.net ?? 0) * 19) / 100);
    expect(Math.round(((home?.net ?? 0) + (abroad?.net ?? 0)) * 100) / 100).toBe(invoice?.net);
    const xml = await xmlOf(invoice);
    expect([...xml.matchAll(/<ram:CategoryCode>(\w+)</g)].map(([, category]) => category)).toEqual(['S', 'AE', 'S', 'AE']);
    expect(xml).toContain('ATU12345678');
    const query = { from: '2026-12-01', to: '2026-12-01' };
    const rows = await operator.exportBookkeeping({ client, path: { table: 'invoices' }, query });
    expect(String(rows).match(/,(?:yes|no),/g)).toEqual([',no,', ',yes,']);
    const path = { invoice_id: invoice?.invoiceID ?? '', credit_note: 'rest' };
    await operator.cancelInvoice({ client, path });
    const [note] = await documents('2026-12-02T00:00:00Z');
    expect(note).toMatchObject({ kind: 'credit_note', vat: invoice?.vat, gross: invoice?.gross });
    expect((await xmlOf(note)).match(/<ram:CategoryCode>\w+</g)).toHaveLength(4);
    await expectInvariants(service.store);
  });

  test('the quote of a VM that runs into another status is the invoice of this VM', async () => {
    const { service, apiKey, set, documents } = await startAccount(engine);
    await chargeAwkwardPrices(service);
    await set(ABROAD);
    await set(AT_HOME, '2026-11-16');
    service.clock.advanceTo('2026-11-12T03:04:05Z');
    const { untilPeriodEnd } = (await service.call('quoteCreateVm', { form: SMALL_VM, apiKey })).body.data;
    await service.call('createVm', { form: SMALL_VM, apiKey });
    const [invoice] = await documents('2026-12-01T00:00:00Z');
    expect(untilPeriodEnd).toEqual({ net: invoice?.net, gross: invoice?.gross });
    expect(invoice?.vat.map(({ rate }) => rate)).toEqual([19, 0]);
  });

  test.each([
    ['one second before', '2026-11-15T22:59:59Z', 19],
    ['in the first second of', '2026-11-15T23:00:00Z', 0],
    ['one second after the begin of', '2026-11-15T23:00:01Z', 0],
  ])('a purchase %s the day of a new status has the gross that was shown', async (_, instant, rate) => {
    const { service, apiKey, set, documents, domainPrice } = await startAccount(engine);
    await set(AT_HOME);
    await set(ABROAD, '2026-11-16');
    service.clock.advanceTo(instant);
    const { price_net, price_gross } = await domainPrice();
    await register(service, 'bought.net', apiKey);
    const [invoice] = await documents('2026-12-01T00:00:00Z');
    expect(invoice).toMatchObject({ net: price_net.create, gross: price_gross.create, vat: [{ rate }] });
  });

  test('a status from the first day of a month is in the last hour of the month before, and a domain bought in its last second is not', async () => {
    const { service, apiKey, set, documents } = await startAccount(engine);
    await set(AT_HOME);
    await set(ABROAD, '2026-12-01');
    service.clock.advanceTo('2026-11-30T22:59:59Z');
    await register(service, 'before.net', apiKey);
    await service.call('createVm', { form: SMALL_VM, apiKey });
    const [november] = await documents('2026-12-01T00:00:00Z');
    expect(november?.vat).toMatchObject([
      { rate: 19, net: 11 },
      { rate: 0, net: 0.01 },
    ]);
    const [december] = await documents('2027-01-01T00:00:00Z');
    expect(december?.vat).toMatchObject([{ rate: 0 }]);
  });

  test.each([0, 1])(
    'an unknown prefix of an earlier version, with reverse charge %i, is corrected before the invoice',
    async (reverse_charge) => {
      const { service, client, apiKey, path, set, documents } = await startAccount(engine);
      const other = await service.account();
      await set(AT_HOME);
      for (const key of [apiKey, other.apiKey]) await service.call('createVm', { form: SMALL_VM, apiKey: key });
      const documentsOfOther = async () => (await service.call('listDocuments', { apiKey: other.apiKey })).body.data.list;
      const storedBefore = { country: 'AT', vat_id: 'XX123456789', reverse_charge, tax_statuses: null };
      const storeFault = () =>
        service.store.commit(({ db }) =>
          db.updateTable('billing_profiles').set(storedBefore).where('account_id', '=', path.account_id).execute(),
        );
      const correctedAt = async (day: string) => {
        const reason =
          "The buyer's VAT identifier XX123456789 does not begin with the code of a country. Correct it with setBillingProfile " +
          `(PUT /accounts/${path.account_id}/billing-profile) and valid_from ${day}. The invoice is issued at the next attempt.`;
        const { failed } = await operator.getDueWork({ client });
        expect(failed).toMatchObject([{ account_id: path.account_id, kind: 'invoice_document', reason }]);
        expect(await (await fetch(`${service.baseUrl}/readyz`)).json()).toEqual({
          status: 'degraded',
          reason: 'held_up',
          queues: ['invoice_documents'],
        });
        await set({ vat_id: null }, day);
        await operator.retryJobs({ client, path });
      };
      await storeFault();
      expect(await documents('2026-12-01T00:00:00Z')).toEqual([]);
      expect(await documentsOfOther()).toHaveLength(1);
      await correctedAt('1970-01-01');
      expect(await documents('2026-12-01T00:00:10Z')).toMatchObject([{ vat: [{ rate: 19 }] }]);
      // The invoiced time keeps its status, and no later hour has the fault.
      await storeFault();
      expect(await documents('2027-01-01T00:00:00Z')).toHaveLength(1);
      expect(await documentsOfOther()).toHaveLength(2);
      await correctedAt('2026-12-02');
      expect(await documents('2027-01-01T00:00:10Z')).toMatchObject([{ vat: [{ rate: 19 }] }, { vat: [{ rate: 19 }] }]);
      expect((await operator.getDueWork({ client })).failed).toEqual([]);
      await expectInvariants(service.store);
    },
  );

  test('before the first round of jobs, a document that cannot be issued stops neither requests nor the documents of others', async () => {
    const { service, client, apiKey, path, set } = await startAccount(engine);
    const other = await service.account();
    await set(AT_HOME);
    for (const key of [apiKey, other.apiKey]) await service.call('createVm', { form: SMALL_VM, apiKey: key });
    const fault = { country: 'AT', vat_id: 'XX123456789', reverse_charge: 0, tax_statuses: null };
    await service.store.commit(({ db }) =>
      db.updateTable('billing_profiles').set(fault).where('account_id', '=', path.account_id).execute(),
    );
    service.clock.advanceTo('2026-12-01T00:00:00Z');
    const open = async (key: string) => {
      const [invoice]: InvoiceSummary[] = Object.values((await service.call('listInvoices', { apiKey: key })).body.data);
      const response = await fetch(invoice?.invoice ?? '');
      const type = response.headers.get('content-type');
      return { status: response.status, type, text: await response.text() };
    };
    expect(await open(apiKey)).toMatchObject({
      status: 404,
      text: expect.stringContaining('The document of this invoice is not issued yet'),
    });
    expect(await open(other.apiKey)).toMatchObject({ status: 200, type: 'application/pdf' });
    const body = { amount: '5.00', date: '2026-12-01', method: 'transfer', reference: 'one' };
    for (const account_id of [path.account_id, other.id]) {
      await operator.recordPayment({ client, path: { account_id, payment: 'one' }, body });
      await operator.reversePayment({ client, path: { account_id, payment: 'one' }, body: { reason: 'Returned' } });
    }
    await service.runScheduledJobs();
    expect((await operator.getDueWork({ client })).failed).toMatchObject([{ account_id: path.account_id, kind: 'invoice_document' }]);
    expect(await open(apiKey)).toMatchObject({ status: 404 });
    await set({ vat_id: null }, '1970-01-01');
    await operator.retryJobs({ client, path });
    await service.runScheduledJobs();
    expect(await open(apiKey)).toMatchObject({ status: 200 });
    await expectInvariants(service.store);
  });

  test('an account with reverse charge sees gross prices without VAT in price lists, quotes and the market', async () => {
    const { service, apiKey, set } = await startAccount(engine);
    await chargeAwkwardPrices(service);
    await set(ABROAD);
    const get = async (operation: Parameters<typeof service.call>[0], sent: object = {}) =>
      (await service.call(operation, { apiKey, ...sent })).body.data;
    const { prices } = (await get('listVmHosts')).find(({ name }: { name: string }) => name === SMALL_VM.hostsystem);
    expect(prices.core).toEqual({ price_net: '1.98765433', price_gross: 1.98765433 });
    expect((await get('getPricings')).kvm.nl_ryzen.core).toMatchObject({ price_net: '1.98765433', price_gross: 1.98765433 });
    const { price, untilPeriodEnd } = await get('quoteCreateVm', { form: SMALL_VM });
    // The gross amount is that of an invoice, in whole cents.
    expect(price.gross).toBe(Math.round(price.net * 100) / 100);
    expect(untilPeriodEnd.gross).toBe(untilPeriodEnd.net);
    const { identifier: vmid, pricings } = await get('createVm', { form: SMALL_VM });
    expect(pricings.monthly_gross).toBe(price.gross);
    const change = await get('quoteChangeVm', { path: { vmid }, form: { cores: 3, mem: 4096, disk: 40 } });
    expect([change.untilPeriodEnd.gross, change.price.gross]).toEqual([
      change.untilPeriodEnd.net,
      Math.round(change.price.net * 100) / 100,
    ]);
    const offer = (await get('listDedicatedMarket')).list.find(({ identifier }: { identifier: string }) => identifier === RYZEN);
    expect(offer.price.gross).toBe(offer.price.net);
    // Other accounts pay VAT.
    const others = (await service.call('listVmHosts')).body.data.find(({ name }: { name: string }) => name === SMALL_VM.hostsystem);
    expect(others.prices.core.price_gross).toBe(2.36530865);
  });

  test('an account whose reverse charge ends sees sales that start before without VAT, and later ones with VAT', async () => {
    const { service, apiKey, set } = await startAccount(engine);
    const { createSale } = providerOf(service);
    const dated = { now: service.clock.now(), before: Date.parse('2026-11-15T22:59:59Z'), after: Date.parse('2026-11-15T23:00:00Z') };
    for (const [title, start] of Object.entries(dated)) await createSale({ title, start });
    await set(ABROAD);
    await set(AT_HOME, '2026-11-16');
    const grossOfCore = async (key: string) => {
      const sales: Sale[] = (await service.call('listSales', { apiKey: key })).body.data;
      return Object.fromEntries(sales.map(({ title, pricings }) => [title, pricings.value['nl_ryzen']?.core?.price_gross]));
    };
    expect(await grossOfCore(apiKey)).toMatchObject({ now: 1, before: 1, after: 1.19 });
    // Other accounts pay VAT.
    expect(await grossOfCore(service.apiKey)).toMatchObject({ now: 1.19, before: 1.19, after: 1.19 });
  });

  test('a status that begins in a time that is invoiced is refused with the first possible day', async () => {
    const { service, apiKey, set, documents, client, path } = await startAccount(engine);
    await set(AT_HOME);
    await register(service, 'bought.net', apiKey);
    const [invoice] = await documents('2026-12-01T00:00:07Z');
    // The day of 1 December began at 23:00 UTC, in the invoiced month.
    for (const day of ['2026-11-30', '2026-12-01'])
      expect(await refusalOf(set(ABROAD, day))).toMatchObject({
        status: 422,
        fields: [{ field: '#/valid_from', message: expect.stringContaining('must be 2026-12-02 or later') }],
      });
    const { billing_profile } = await set(ABROAD);
    expect(billing_profile).toMatchObject({
      ...AT_HOME,
      tax_statuses: [
        { ...AT_HOME, valid_from: '1970-01-01' },
        { ...ABROAD, valid_from: '2026-12-02' },
      ],
    });
    expect(await documents('2026-12-02T00:00:00Z')).toMatchObject([{ number: invoice?.number, gross: invoice?.gross }]);
    expect((await operator.getBillingProfile({ client, path })).billing_profile).toMatchObject(ABROAD);
  });
});

test('a status that has not begun is withdrawn by the status before it', async () => {
  const { set } = await startAccount();
  await set(AT_HOME);
  expect((await set(ABROAD, '2026-12-24')).billing_profile?.tax_statuses).toHaveLength(2);
  expect((await set(AT_HOME, '2026-12-24')).billing_profile?.tax_statuses).toEqual([{ ...AT_HOME, valid_from: '1970-01-01' }]);
});

test('the status of an earlier version, which has no day, is replaced by one from 1970-01-01', async () => {
  const { service, set } = await startAccount();
  await set(AT_HOME);
  await service.store.commit(({ db }) => db.updateTable('billing_profiles').set({ tax_statuses: null }).execute());
  expect((await set(ABROAD, '1970-01-01')).billing_profile?.tax_statuses).toEqual([{ ...ABROAD, valid_from: '1970-01-01' }]);
});

test('a change of the address leaves a status that has not begun', async () => {
  const { set, client, path } = await startAccount();
  await set(AT_HOME);
  await set(ABROAD, '2026-12-24');
  const body = { ...ADDRESS, ...AT_HOME, street: 'Gasse 2' };
  const { billing_profile } = await operator.setBillingProfile({ client, path, body });
  expect(billing_profile).toMatchObject({ street: 'Gasse 2', ...AT_HOME, tax_statuses: [AT_HOME, ABROAD] });
});

test.each(['2026-02-30', '2026-13-01'])('refuses %s as the first day of a status, because the calendar does not have it', async (day) => {
  const { set } = await startAccount();
  expect(await refusalOf(set(AT_HOME, day))).toMatchObject({ status: 422, fields: [{ field: '#/valid_from' }] });
});

test('an invoice whose reverse charge ended in the month names the VAT identifier of that time', async () => {
  const { service, apiKey, set, documents, xmlOf } = await startAccount();
  await set(ABROAD);
  await set({ vat_id: null }, '2026-11-16');
  await service.call('createVm', { form: SMALL_VM, apiKey });
  const [invoice] = await documents('2026-12-01T00:00:00Z');
  expect(invoice?.vat.map(({ rate }) => rate)).toEqual([19, 0]);
  expect(await xmlOf(invoice)).toContain('ATU12345678');
});

test('an invoice and its credit note name each VAT identifier that owed VAT in the month, with its first day', async () => {
  const { service, client, apiKey, set, documents } = await startAccount();
  await set(ABROAD);
  await set({ ...ABROAD, country: 'FR', vat_id: 'FR12345678901' }, '2026-11-16');
  await set({ ...ABROAD, country: 'HU', vat_id: 'HU12345678' }, '2026-12-24');
  await service.call('createVm', { form: SMALL_VM, apiKey });
  const vatIdsOn = async (url = '') => {
    const pdf = await getDocumentProxy(new Uint8Array(await (await fetch(url)).arrayBuffer()));
    return (await extractText(pdf, { mergePages: true })).text.match(/VAT ID of the recipient from .{10}: \w+/g);
  };
  const expected = ['VAT ID of the recipient from 2026-11-01: ATU12345678', 'VAT ID of the recipient from 2026-11-16: FR12345678901'];
  const [invoice] = await documents('2026-12-01T00:00:00Z');
  expect(await vatIdsOn(invoice?.document)).toEqual(expected);
  await operator.cancelInvoice({ client, path: { invoice_id: invoice?.invoiceID ?? '' } });
  const [note] = await documents('2026-12-02T00:00:00Z');
  expect(note?.kind).toBe('credit_note');
  expect(await vatIdsOn(note?.document)).toEqual(expected);
  await service.call('createVm', { form: SMALL_VM, apiKey });
  const [december] = await documents('2027-01-01T00:00:00Z');
  expect(await vatIdsOn(december?.document)).toEqual([
    'VAT ID of the recipient from 2026-12-01: FR12345678901',
    'VAT ID of the recipient from 2026-12-24: HU12345678',
  ]);
  // One identifier is only in the address.
  const [january] = await documents('2027-02-01T00:00:00Z');
  expect(await vatIdsOn(january?.document)).toBeNull();
});

test('refuses to move the seller to the country of a buyer whose reverse charge begins later', async () => {
  const { set, client, path } = await startAccount();
  await set(AT_HOME);
  await set(ABROAD, '2026-12-24');
  const { seller } = await operator.getSeller({ client });
  if (!seller) throw new Error('No seller is set.');
  const refusal = await refusalOf(operator.setSeller({ client, body: { ...seller, country: 'AT', vat_id: 'ATU87654321' } }));
  expect(refusal).toMatchObject({ status: 422, fields: [{ field: '#/country', message: expect.stringContaining(path.account_id) }] });
});
