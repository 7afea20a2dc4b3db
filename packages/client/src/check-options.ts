/** Checks options at run time, because JavaScript has no compiler and a misspelt timeout would be ignored. */
import { display } from './runtime/form.ts';

/** @throws TypeError naming the option that is unknown or not a usable number. */
export function checkOptions(where: string, options: object, known: readonly string[]): void {
  for (const [name, value] of Object.entries(options)) {
    if (!known.includes(name)) throw new TypeError(`${where} has no option ${name}. Its options are ${known.join(', ')}.`);
    if (value !== undefined && !isUsable(name, value)) throw new TypeError(`${name} must be ${NUMBERS[name]}, got ${display(value)}.`);
  }
}

const NUMBERS: Readonly<Record<string, string>> = {
  timeoutMs: 'a positive number of milliseconds',
  settleMs: 'a positive number of milliseconds',
  maxRetries: 'a whole number from 0',
};

function isUsable(name: string, value: unknown): boolean {
  if (name === 'maxRetries') return Number.isInteger(value) && Number(value) >= 0;
  return !(name in NUMBERS) || (typeof value === 'number' && value > 0);
}
