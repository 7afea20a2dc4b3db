import type { BrokenRule, DocumentSeries, NumberSeries as NumberSeriesBody, SetDocumentSeriesRequest } from '@reseller/operator-client';

import type { DocumentContent } from '../core/accounting/invoice-document/content.ts';
import { readSeller, reverseChargeBuyerIn, writeLogo, writeSeller } from '../core/accounting/invoice-document/parties.ts';
import type { Seller } from '../core/accounting/invoice-document/parties.ts';
import { createDocumentRenderer } from '../core/accounting/invoice-document/renderer.ts';
import { isTaken, lockSeries, readSeries, writeSeries } from '../core/accounting/invoice-document/series.ts';
import { countryOf } from '../rules/contact.ts';
import type { NumberSeries } from '../rules/document-number.ts';
import { hasValidCheckDigits } from '../rules/iban.ts';
import { formatOfVatId, hasKnownPrefix } from '../rules/vat-id.ts';
import type { Db } from '../store/store.ts';
import type { OperatorCall, ReadOperation, StoreOperation } from './operation.ts';
import { assertNoBrokenRules, OperatorProblem } from './problem.ts';

/** GET /invoicing/seller */
export const getSeller: ReadOperation<'getSeller'> = {
  kind: 'read',
  run: async (db) => ({ seller: (await readSeller(db)) ?? null }),
};

/** PUT /invoicing/seller */
export const setSeller: StoreOperation<'setSeller'> = {
  kind: 'store',
  lock: 'invoicing',
  prepare: assertUsableLogo,
  before: async (db) => ({ seller: (await readSeller(db)) ?? null }),
  async run({ db }, { body }) {
    const iban: BrokenRule = { pointer: '#/iban', detail: 'must be an IBAN with the right check digits, such as DE02120300000000202051' };
    const buyer = await reverseChargeBuyerIn(db, body.country);
    assertNoBrokenRules([
      ...brokenCountry(body.country),
      ...(buyer === undefined
        ? []
        : [
            {
              pointer: '#/country',
              detail: `must differ from the country of buyers with reverse charge, such as account ${buyer}; change their billing profiles first`,
            },
          ]),
      ...brokenVatId(body.vat_id),
      ...(hasValidCheckDigits(body.iban) ? [] : [iban]),
    ]);
    const { logo, ...details } = body;
    const hash = logo ? await writeLogo(db, logo) : (await readSeller(db))?.logo_hash;
    const seller = { ...details, ...(logo !== null && hash !== undefined && { logo_hash: hash }) };
    await writeSeller(db, seller);
    return { seller };
  },
};

/** Renders a document with the logo, so that no document fails because of it later. */
async function assertUsableLogo({ body: { logo, ...seller } }: OperatorCall<'setSeller'>): Promise<void> {
  if (!logo) return;
  const renderer = createDocumentRenderer();
  try {
    await renderer.render(emptyDocument(seller), Buffer.from(logo, 'base64'));
  } catch {
    assertNoBrokenRules([{ pointer: '#/logo', detail: 'must be a complete PNG or JPEG image of at most 2,000,000 pixels' }]);
  } finally {
    await renderer.close();
  }
}

function emptyDocument(seller: Seller): DocumentContent {
  return {
    kind: 'invoice',
    number: '',
    date: '2026-01-01',
    due: null,
    seller,
    buyer: { company: '' },
    period: { first: '', last: '' },
    corrects: null,
    groups: [],
    net: '0.00',
    vat: [],
    gross: '0.00',
    reverseCharge: false,
  };
}

/** GET /invoicing/series */
export const getDocumentSeries: ReadOperation<'getDocumentSeries'> = {
  kind: 'read',
  run: toDocumentSeries,
};

/** PUT /invoicing/series */
export const setDocumentSeries: StoreOperation<'setDocumentSeries'> = {
  kind: 'store',
  lock: 'invoicing',
  before: toDocumentSeries,
  async run({ db }, { body }) {
    assertNoBrokenRules(brokenSeries(body));
    await changeSeries(db, 'invoice', body.invoices);
    await changeSeries(db, 'credit_note', body.credit_notes);
    return toDocumentSeries(db);
  },
};

async function changeSeries(db: Db, kind: 'invoice' | 'credit_note', { prefix, next_number, digits }: NumberSeriesBody): Promise<void> {
  const series: NumberSeries = { prefix, next: next_number, digits };
  await lockSeries(db, kind);
  if (await isTaken(db, series))
    throw new OperatorProblem(
      'wrong-state',
      `A document with the prefix "${prefix}" already has a number from ${next_number}. Choose a higher next_number or another prefix.`,
    );
  await writeSeries(db, kind, series);
}

function brokenSeries({ invoices, credit_notes }: SetDocumentSeriesRequest): BrokenRule[] {
  if (!canMeet(invoices.prefix, credit_notes.prefix) && !canMeet(credit_notes.prefix, invoices.prefix)) return [];
  return [{ pointer: '#/credit_notes/prefix', detail: 'must differ from the prefix of invoices, also with digits after one of them' }];
}

/** Whether a number with the longer prefix can also be one with the shorter prefix: `R1` and 0001, or `R` and 10001. */
function canMeet(shorter: string, longer: string): boolean {
  return longer.startsWith(shorter) && /^\d*$/.test(longer.slice(shorter.length));
}

/** A body whose country does not exist. */
export function brokenCountry(country: string): BrokenRule[] {
  return countryOf(country) ? [] : [{ pointer: '#/country', detail: 'must be the code of a country of ISO 3166-1, such as DE' }];
}

/** A body whose VAT identifier begins with no code of a country, or has another format than those of its country. */
export function brokenVatId(vatId: string): BrokenRule[] {
  const example = formatOfVatId(vatId);
  if (example === undefined && !hasKnownPrefix(vatId))
    return [{ pointer: '#/vat_id', detail: 'must begin with the code of a country (EL for Greece), such as DE123456789' }];
  return example === undefined ? [] : [{ pointer: '#/vat_id', detail: `must have the format of its country, such as ${example}` }];
}

async function toDocumentSeries(db: Db): Promise<DocumentSeries> {
  return {
    invoices: toBody(await readSeries(db, 'invoice')),
    credit_notes: toBody(await readSeries(db, 'credit_note')),
  };
}

function toBody({ prefix, next, digits }: NumberSeries): NumberSeriesBody {
  return { prefix, next_number: next, digits };
}
