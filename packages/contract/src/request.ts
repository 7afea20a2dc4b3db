import type { PathValues } from './discover.ts';
import { basePath } from './guard.ts';
import type { Operation } from './operation.ts';
import { fillPath } from './path-template.ts';
import type { Step } from './step.ts';

/** What a request needs beside its step. */
export interface RequestParts {
  readonly target: URL;
  readonly step: Step;
  readonly path: PathValues;
  readonly body: string | undefined;
  /** Query parameters beside those that the document requires. */
  readonly query?: Readonly<Record<string, string>> | undefined;
  /** The key to send; undefined for none. */
  readonly key: string | undefined;
  readonly signal?: AbortSignal;
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
  return needsField && Object.keys(form.examples).length === 0 ? 'it needs a form, for which the document has no example' : undefined;
}

/** The request of a step: required parameters by the document's examples. */
export function buildRequest({ target, step, path, body, query: more = {}, key, signal }: RequestParts): Request {
  const { operation } = step;
  const headers = new Headers({ accept: 'application/json' });
  const query = new URLSearchParams();
  for (const parameter of operation.parameters) {
    if (!parameter.required || parameter.in === 'path') continue;
    const value = String(parameter.examples[0]);
    if (parameter.in === 'header') headers.set(parameter.name, value);
    if (parameter.in === 'query') query.set(parameter.name, value);
    if (parameter.in === 'cookie') headers.append('cookie', `${parameter.name}=${encodeURIComponent(value)}`);
  }
  for (const [name, value] of Object.entries(more)) query.set(name, value);
  if (operation.security !== undefined && key !== undefined) headers.set(operation.security.header, key);
  const filled = fillPath(operation.path, path);
  const url = new URL(`${target.origin}${basePath(target)}${filled}`);
  url.search = query.toString();
  const hasForm = operation.form !== undefined && body !== undefined && step.method !== 'GET';
  if (hasForm) headers.set('content-type', 'application/x-www-form-urlencoded');
  return new Request(url, {
    method: step.method,
    headers,
    redirect: 'manual',
    ...(hasForm ? { body } : {}),
    ...(signal === undefined ? {} : { signal }),
  });
}
