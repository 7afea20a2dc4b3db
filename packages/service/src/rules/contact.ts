/** Countries and phone numbers of handles (specification: "PUT /domain/handle/create form"). */
import countries from 'i18n-iso-countries/index.js';
import english from 'i18n-iso-countries/langs/en.json' with { type: 'json' };
import { isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js/max';

/** A country of ISO 3166-1. */
export interface Country {
  /** Two letters, upper case. */
  readonly code: string;
  /** Its name in English. */
  readonly title: string;
}

// The main module of the package loads the names in 79 languages.
countries.registerLocale(english);

/** All countries, ordered by name. */
export const allCountries: readonly Country[] = Object.entries(countries.getNames('en', { select: 'official' }))
  .map(([code, title]) => ({ code, title }))
  .toSorted((one, other) => one.title.localeCompare(other.title, 'en'));

const byCode = new Map(allCountries.map((country) => [country.code, country]));

/** The country with a code, in upper or lower case, if it exists. */
export function countryOf(code: string): Country | undefined {
  // Upper case turns some characters into other letters: ß becomes SS, which is South Sudan.
  return /^[a-z]{2}$/i.test(code) ? byCode.get(code.toUpperCase()) : undefined;
}

/**
 * A phone number in the notation of registries, such as `+49.6955501234`.
 *
 * @param text With or without the calling code of the country.
 * @param countrycode Two letters, upper case.
 * @returns Undefined if the text is not a valid phone number.
 */
export function phoneOf(text: string, countrycode: string): string | undefined {
  const within = isSupportedCountry(countrycode) ? { defaultCountry: countrycode } : {};
  const phone = parsePhoneNumberFromString(text, { ...within, extract: false });
  if (!phone?.isValid() || phone.ext !== undefined) return undefined;
  return `+${phone.countryCallingCode}.${phone.nationalNumber}`;
}
