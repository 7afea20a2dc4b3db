import { countryOf } from './contact.ts';

/** The formats of VAT identification numbers in the European Union and Northern Ireland, as VIES describes them, with an example of each. */
const FORMATS: Readonly<Record<string, { readonly pattern: RegExp; readonly example: string }>> = {
  AT: { pattern: /^ATU\d{8}$/, example: 'ATU12345678' },
  BE: { pattern: /^BE[01]\d{9}$/, example: 'BE0123456789' },
  BG: { pattern: /^BG\d{9,10}$/, example: 'BG123456789' },
  CY: { pattern: /^CY\d{8}[A-Z]$/, example: 'CY12345678X' },
  CZ: { pattern: /^CZ\d{8,10}$/, example: 'CZ12345678' },
  DE: { pattern: /^DE\d{9}$/, example: 'DE123456789' },
  DK: { pattern: /^DK\d{8}$/, example: 'DK12345678' },
  EE: { pattern: /^EE\d{9}$/, example: 'EE123456789' },
  EL: { pattern: /^EL\d{9}$/, example: 'EL123456789' },
  ES: { pattern: /^ES(?:[A-Z]\d{7}[0-9A-Z]|\d{8}[A-Z])$/, example: 'ESX12345678' },
  FI: { pattern: /^FI\d{8}$/, example: 'FI12345678' },
  FR: { pattern: /^FR[0-9A-HJ-NP-Z]{2}\d{9}$/, example: 'FR12345678901' },
  HR: { pattern: /^HR\d{11}$/, example: 'HR12345678901' },
  HU: { pattern: /^HU\d{8}$/, example: 'HU12345678' },
  IE: { pattern: /^IE\d[0-9A-Z+*]\d{5}[A-Z]{1,2}$/, example: 'IE1234567WA' },
  IT: { pattern: /^IT\d{11}$/, example: 'IT12345678901' },
  LT: { pattern: /^LT(?:\d{9}|\d{12})$/, example: 'LT123456789' },
  LU: { pattern: /^LU\d{8}$/, example: 'LU12345678' },
  LV: { pattern: /^LV\d{11}$/, example: 'LV12345678901' },
  MT: { pattern: /^MT\d{8}$/, example: 'MT12345678' },
  NL: { pattern: /^NL[0-9A-Z+*]{12}$/, example: 'NL123456789B01' },
  PL: { pattern: /^PL\d{10}$/, example: 'PL1234567890' },
  PT: { pattern: /^PT\d{9}$/, example: 'PT123456789' },
  RO: { pattern: /^RO\d{2,10}$/, example: 'RO1234567890' },
  SE: { pattern: /^SE\d{12}$/, example: 'SE123456789001' },
  SI: { pattern: /^SI\d{8}$/, example: 'SI12345678' },
  SK: { pattern: /^SK\d{10}$/, example: 'SK1234567890' },
  XI: { pattern: /^XI(?:\d{9}|\d{12}|(?:GD|HA)\d{3})$/, example: 'XI123456789' },
};

/** Countries whose identifiers have a prefix that is not the code of the country. Northern Ireland has its own one for goods. */
const OTHER_PREFIXES: Readonly<Record<string, readonly string[]>> = { GR: ['EL'], GB: ['GB', 'XI'], IM: ['GB'], MC: ['FR'] };

const KNOWN_PREFIXES = new Set(Object.values(OTHER_PREFIXES).flat());

/** The prefixes that VAT identifiers of a country can have. */
export function vatPrefixesOf(country: string): readonly string[] {
  return OTHER_PREFIXES[country] ?? [country];
}

/** Whether an identifier begins with the code of a country, and not with one that this country does not use. */
export function hasKnownPrefix(vatId: string): boolean {
  const prefix = vatId.slice(0, 2);
  return KNOWN_PREFIXES.has(prefix) || (countryOf(prefix) !== undefined && vatPrefixesOf(prefix).includes(prefix));
}

/**
 * An identifier in the format that this one should have, if its country has another format. Undefined if the format is right, or if the
 * country is not in the European Union.
 */
export function formatOfVatId(vatId: string): string | undefined {
  const prefix = vatId.slice(0, 2);
  const format = FORMATS[OTHER_PREFIXES[prefix]?.[0] ?? prefix];
  return format && !format.pattern.test(vatId) ? format.example : undefined;
}
