/** The ASCII form (IDNA) and the TLD (public suffixes) of domain names. */
import { domainToASCII, domainToUnicode } from 'node:url';

import { getPublicSuffix } from 'tldts';

import type { BrokenField } from './broken-field.ts';
import { isFullyQualified } from './hostname.ts';

/** Letters of every script, and the other characters of IDNA. `domainToASCII` would read `a/b` as a path and `%41` as a letter. */
const NAME_CHARACTERS = /^(?:[\p{L}\p{M}\p{N}.-]|\u00B7|\u200C|\u200D){1,253}$/u;

/** The expectation for a text without an ASCII form. */
export const NOT_A_DOMAIN = 'must be a domain name whose labels IDNA allows, each of at most 63 characters in its ASCII form';

/**
 * The ASCII form of a domain name, in lower case: `bücher.de` is `xn--bcher-kva.de`.
 *
 * @returns Undefined if the text is not a name with at least two labels.
 */
export function asciiNameOf(text: string): string | undefined {
  if (!NAME_CHARACTERS.test(text)) return undefined;
  const name = domainToASCII(text);
  return !name.endsWith('.') && isFullyQualified(name) && name.split('.').every(isReadable) ? name : undefined;
}

/** Whether a label is plain, or is encoded and can be decoded. `--` as the third and fourth character is reserved for encoded labels. */
function isReadable(label: string): boolean {
  if (label.slice(2, 4) !== '--') return true;
  const decoded = domainToUnicode(label);
  return decoded !== label && domainToASCII(decoded) === label;
}

/** A name that can be registered (specification: "Domain (data of info and register)"). */
export interface RegistrableName {
  readonly name: string;
  /** The one label below the TLD. */
  readonly sld: string;
  /** The TLD in the price list. It may have several labels. */
  readonly tld: string;
}

/** Why a name cannot be registered. */
export type UnregistrableName = Omit<BrokenField, 'field'>;

/** The suffixes of a name, longest first: `co.uk` and `uk` for `a.co.uk`. */
export function suffixesOf(name: string): string[] {
  const labels = name.split('.');
  return labels.slice(1).map((_, index) => labels.slice(index + 1).join('.'));
}

/**
 * Splits a name before its longest TLD with a price.
 *
 * @param name ASCII form.
 * @param priced The TLDs of the price list that the name may end in.
 */
export function splitName(name: string, priced: ReadonlySet<string>): RegistrableName | UnregistrableName {
  const publicSuffix = getPublicSuffix(name) ?? '';
  if (publicSuffix === name) return { rule: 'registrable', message: `must be a name below a TLD; ${name} is a TLD itself` };
  const tld = suffixesOf(name).find((suffix) => priced.has(suffix));
  if (tld === undefined || publicSuffix.endsWith(`.${tld}`)) {
    return { rule: 'tld', message: `must end in a TLD that GET /domain/pricings lists; ${publicSuffix} is not one of them` };
  }
  const sld = name.slice(0, -tld.length - 1);
  if (sld.includes('.')) return { rule: 'registrable', message: `must be a name directly below the TLD ${tld}, without a subdomain` };
  return { name, sld, tld };
}
