/** Checks options at run time, because JavaScript has no compiler, and a misspelt option would be ignored. */
import { display } from './form.ts';
import type { RequestOptions } from './options.ts';

/**
 * The client of a generated function.
 *
 * @throws TypeError when there is none.
 */
export function checkedClient<Client>(options?: { readonly client?: Client | undefined }): Client {
  if (!options?.client) throw new TypeError('The client is missing. Pass what createClient returned: { client, … }.');
  return options.client;
}

/** Options of one call. */
export const CALL_OPTIONS: readonly string[] = ['signal', 'timeoutMs', 'deadlineMs', 'maxRetries', 'idempotencyKey', 'headers'];

/**
 * The options of one call, with its headers as a plain object, because the generated functions spread them.
 *
 * @throws TypeError naming an option that is unknown or cannot be used.
 */
export function callOptions(options?: RequestOptions): RequestOptions | undefined {
  if (!options) return undefined;
  checkOptions('A call', options, CALL_OPTIONS);
  return { ...options, ...(options.headers && { headers: Object.fromEntries(new Headers(options.headers)) }) };
}

/**
 * An option that is misspelt, or that another function has, would be ignored: with `dryRun: true`, the call would buy.
 *
 * @throws TypeError naming the option that is unknown or cannot be used.
 */
export function checkOptions(where: string, options: object, known: readonly string[]): void {
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown !== undefined) throw new TypeError(`${where} has no option ${unknown}. Its options are ${known.join(', ')}.`);
  for (const [name, value] of Object.entries(options)) {
    const [noun, isUsable] = KINDS.find(([, , names]) => names.includes(name)) ?? [];
    if (value !== undefined && isUsable?.(value) === false) throw new TypeError(`${name} must be ${noun}, got ${display(value)}.`);
  }
}

type Kind = readonly [noun: string, isUsable: (value: unknown) => boolean, names: readonly string[]];

function isFunction(value: unknown): boolean {
  return typeof value === 'function';
}

const KINDS: readonly Kind[] = [
  ['a positive number of milliseconds', (value) => Number(value) > 0 && typeof value === 'number', ['timeoutMs', 'deadlineMs', 'waitMs']],
  ['a number from 0', (value) => typeof value === 'number' && value >= 0, ['limit']],
  ['a whole number from 0', (value) => Number.isInteger(value) && Number(value) >= 0, ['maxRetries']],
  ['a function', isFunction, ['fetch', 'onEvent', 'beforeBillable']],
  ['an array of functions', (value) => Array.isArray(value) && value.every(isFunction), ['middleware']],
  ['true or false', (value) => typeof value === 'boolean', ['readOnly', 'honoursIdempotencyKey', 'resend']],
  ['an object', (value) => typeof value === 'object' && value !== null, ['headers', 'clock', 'logger', 'signal']],
];
