import { readForm } from '@reseller/contract';
import type { Matcher } from '@reseller/contract';

/** Puts the values of a request into the example with which Prism responds to it. */
export type RepeatValues = (request: { readonly method: string; readonly path: string; readonly body: Buffer }, example: string) => string;

/**
 * The service repeats what was bought or changed, and the client takes a response with other values for that of another request. So an
 * example gets the values of the form and of the path where its data have members of the same name.
 */
export function createRepeater(match: Matcher): RepeatValues {
  return ({ method, path, body }, example) => {
    const found = match(method, path.split('?', 1)[0] ?? '');
    if (found === undefined || found.operation.readOnly) return example;
    const { operation, parameters } = found;
    const form = operation.form === undefined ? {} : readForm(operation, body).values;
    const response: unknown = JSON.parse(example);
    repeatIn(Object(response).data, { ...parameters, ...form });
    return JSON.stringify(response);
  };
}

function repeatIn(data: unknown, values: Readonly<Record<string, unknown>>): void {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return;
  for (const [name, shown] of Object.entries(data)) {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (typeof shown === 'object') {
      // The name of a domain is a member of `domain`.
      repeatIn(shown, name === 'domain' && value !== undefined ? { ...values, name: value } : values);
    } else if (value !== undefined && typeof value !== 'object') {
      Reflect.set(data, name, typeof shown === 'number' ? Number(value) : typeof shown === 'string' ? String(value) : shown);
    }
  }
}
