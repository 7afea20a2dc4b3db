import type { PathValues } from './discover.ts';
import { writeForm } from './form.ts';
import { isObject } from './json.ts';
import type { Operation } from './operation.ts';
import { basePath } from './plan.ts';

/** What a call needs beside the operation itself. */
export interface Call {
  readonly target: URL;
  readonly operation: Operation;
  readonly path: PathValues;
  readonly apiKey: string | undefined;
}

/** Why an operation cannot be called with what the document alone provides, or undefined where it can. */
export function obstacle(operation: Operation): string | undefined {
  for (const { in: place, name, required, examples } of operation.parameters) {
    if (required && place !== 'path' && examples.length === 0)
      return `it needs the ${place} parameter ${name}, for which the document has no example`;
  }
  const { form } = operation;
  if (form === undefined) return undefined;
  const needsField = [...form.fields.values()].some((field) => field.required);
  return needsField && exampleForm(operation) === undefined ? 'it needs a form, for which the document has no example' : undefined;
}

/**
 * The request of a call: required parameters by the document's examples, an empty form where no field is required, else the
 * document's first example.
 */
export function buildRequest({ target, operation, path, apiKey }: Call): Request {
  const headers = new Headers({ accept: 'application/json' });
  const query = new URLSearchParams();
  for (const parameter of operation.parameters) {
    if (!parameter.required || parameter.in === 'path') continue;
    const value = String(parameter.examples[0]);
    if (parameter.in === 'header') headers.set(parameter.name, value);
    if (parameter.in === 'query') query.set(parameter.name, value);
    if (parameter.in === 'cookie') headers.append('cookie', `${parameter.name}=${encodeURIComponent(value)}`);
  }
  if (operation.security !== undefined && apiKey !== undefined) headers.set(operation.security.header, apiKey);
  const filled = operation.path.replace(/\{([^{}]+)\}/g, (_, name: string) => encodeURIComponent(path[name] ?? ''));
  const url = new URL(`${target.origin}${basePath(target)}${filled}`);
  url.search = query.toString();
  const init: RequestInit = { method: operation.method, headers, redirect: 'manual' };
  if (operation.form === undefined) return new Request(url, init);
  headers.set('content-type', 'application/x-www-form-urlencoded');
  return new Request(url, { ...init, body: formBody(operation) });
}

function formBody(operation: Operation): string {
  const needsField = [...(operation.form?.fields.values() ?? [])].some((field) => field.required);
  return needsField ? writeForm(operation, exampleForm(operation) ?? {}) : '';
}

function exampleForm({ form }: Operation): Readonly<Record<string, unknown>> | undefined {
  for (const { value } of Object.values(form?.examples ?? {})) if (isObject(value)) return value;
  return undefined;
}
