/**
 * Whether the check digits of an IBAN are right (ISO 13616).
 *
 * @param iban Capital letters and digits, without spaces.
 */
export function hasValidCheckDigits(iban: string): boolean {
  const rearranged = iban.slice(4) + iban.slice(0, 4);
  // A letter stands for two digits: A is 10, Z is 35.
  const digits = rearranged.replaceAll(/[A-Z]/g, (letter) => String(Number.parseInt(letter, 36)));
  return /^\d+$/.test(digits) && BigInt(digits) % 97n === 1n;
}
