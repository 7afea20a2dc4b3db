/** What a handle says of a person, checked by libraries (specification: "PUT /domain/handle/create form"). */
import countries from 'i18n-iso-countries';
import { isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js/max';

/** A country of ISO 3166-1. */
export interface Country {
  /** Two letters, upper case. */
  readonly code: string;
  /** Its name in English. */
  readonly title: string;
}

/** Every country, by name. */
export const allCountries: readonly Country[] = Object.entries(countries.getNames('en', { select: 'official' }))
  .map(([code, title]) => ({ code, title }))
  .toSorted((one, other) => one.title.localeCompare(other.title, 'en'));

const byCode = new Map(allCountries.map((country) => [country.code, country]));

/** The country of a code, in upper or lower case; undefined when there is none. */
export function countryOf(code: string): Country | undefined {
  // Some letters become others in upper case: ß becomes SS, which is South Sudan.
  return /^[a-z]{2}$/i.test(code) ? byCode.get(code.toUpperCase()) : undefined;
}

/**
 * A phone number in the notation of registries, such as `+49.6955501234`.
 *
 * @param text With the calling code of a country, or without it as within the country.
 * @param countrycode Two letters, upper case.
 * @returns Undefined when it cannot be a phone number.
 */
export function phoneOf(text: string, countrycode: string): string | undefined {
  const within = isSupportedCountry(countrycode) ? { defaultCountry: countrycode } : {};
  const phone = parsePhoneNumberFromString(text, { ...within, extract: false });
  if (!phone?.isValid() || phone.ext !== undefined) return undefined;
  return `+${phone.countryCallingCode}.${phone.nationalNumber}`;
}
