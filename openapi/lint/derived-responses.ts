import { dirname, join, relative, resolve } from 'node:path';

import type { Oas3Preprocessor, UserContext } from '@redocly/openapi-core';

import { isFields, isInWebhook } from './nodes.ts';
import type { Fields } from './nodes.ts';

const OPERATOR = 'operator/';
const METHODS = ['get', 'put', 'post', 'delete', 'patch'];

/** Response components that the kind of an operation determines, by status. */
const ALWAYS = {
  400: 'BadRequest',
  429: 'TooManyRequests',
  500: 'InternalServerError',
  503: 'ServiceUnavailable',
};
const WITH_CREDENTIAL = { 401: 'Unauthorized' };
const WITH_BODY = { 413: 'PayloadTooLarge', 415: 'UnsupportedMediaType' };
/** A mark of the sources: the provider's suspension of an account does not close the operation. */
const WHILE_SUSPENDED = 'x-while-suspended';
const LIFETIME = 'Idempotency-Key-Lifetime';

/**
 * Adds the responses that follow from the kind of an operation, and in the reseller API the header that each response has. `README.md` has the rules.
 * A response that an operation writes itself stays.
 *
 * @param folder - folder of the documents
 * @returns a preprocessor with the option `home`: the file that has the response components, relative to `folder`
 */
export function derivedResponses(folder: string): Oas3Preprocessor {
  return ({ home }) => {
    const isOperator = String(home).startsWith(OPERATOR);
    /** The part of a reference to a shared component before `#`, from the file of a place. */
    function homeFrom({ source: { absoluteRef } }: UserContext['location']): string {
      const shared = join(folder, String(home));
      return resolve(absoluteRef) === resolve(shared) ? '' : relative(dirname(absoluteRef), shared);
    }
    return {
      PathItem: {
        enter(item, { location, key, resolve: find }) {
          if (isInWebhook(location)) return;
          const reference = homeFrom(location);
          for (const method of METHODS) {
            const operation: unknown = Reflect.get(item, method);
            if (!isFields(operation) || !isFields(operation['responses'])) continue;
            const isRead = method === 'get' || operation['x-read-only'] === true;
            const statuses = {
              ...ALWAYS,
              ...(!isOpenToAll(operation) && WITH_CREDENTIAL),
              ...(operation['requestBody'] !== undefined && WITH_BODY),
              ...(mayNotExist(method, operation, find, String(key)) && { 404: 'NotFound' }),
              ...refusal(operation, { isOperator, isRead }),
            };
            Reflect.deleteProperty(operation, WHILE_SUSPENDED);
            for (const [status, name] of Object.entries(statuses)) {
              if (!(status in operation['responses']))
                Object.assign(operation['responses'], { [status]: { $ref: `${reference}#/components/responses/${name}` } });
            }
          }
        },
      },
      Response: {
        enter(response, { location }) {
          if (isInWebhook(location) || isOperator) return;
          addHeader(response, `${homeFrom(location)}#/components/headers/IdempotencyKeyLifetime`);
        },
      },
    };
  };
}

/** Whether an operation needs no credential. */
function isOpenToAll({ security }: Fields): boolean {
  return Array.isArray(security) && security.length === 0;
}

/** The response to a caller who may not do this: 403. */
function refusal(operation: Fields, { isOperator, isRead }: { readonly isOperator: boolean; readonly isRead: boolean }) {
  if (isOperator) return { 403: operation['x-sandbox-only'] === true ? 'SandboxOnly' : 'Forbidden' };
  if (!isRead) return { 403: 'Forbidden' };
  return operation[WHILE_SUSPENDED] === true ? {} : { 403: 'AccountSuspended' };
}

/**
 * Whether the path names something that may not exist. A `PUT` creates the resource at the end of its path, and a parameter with a closed list of
 * values has no unknown value: any other is refused with 400.
 */
function mayNotExist(method: string, operation: Fields, find: UserContext['resolve'], path: string): boolean {
  if (!path.includes('{') || (method === 'put' && path.endsWith('}'))) return false;
  const parameters: readonly unknown[] = Array.isArray(operation['parameters']) ? operation['parameters'] : [];
  const named = parameters.flatMap((parameter) => {
    const { node }: { node?: unknown } = isFields(parameter) && '$ref' in parameter ? find(parameter) : { node: parameter };
    return isFields(node) && node['in'] === 'path' ? [node] : [];
  });
  return !(named.length > 0 && named.every(({ schema }) => isFields(schema) && Array.isArray(schema['enum'])));
}

/** Puts the header before the content, where people write it. */
function addHeader(response: object, $ref: string): void {
  const { content, links, headers }: Fields = Object(response);
  if (isFields(headers) && LIFETIME in headers) return;
  for (const name of ['headers', 'content', 'links']) Reflect.deleteProperty(response, name);
  Object.assign(
    response,
    { headers: { [LIFETIME]: { $ref }, ...Object(headers) } },
    content !== undefined && { content },
    links !== undefined && { links },
  );
}
