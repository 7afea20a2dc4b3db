import type { Oas3Rule, UserContext } from '@redocly/openapi-core';

import { isFields, isInWebhook } from './nodes.ts';
import type { Fields } from './nodes.ts';

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

/** Errors have explicit codes, because generators drop `default`. The kind and the input of an operation determine its errors. */
export const operationResponses: Oas3Rule = () => ({
  PathItem(item, { report, location, key, resolve }) {
    if (isInWebhook(location)) return;
    for (const method of METHODS) {
      const operation: unknown = Reflect.get(item, method);
      if (!isFields(operation)) continue;
      const responses = isFields(operation['responses']) ? operation['responses'] : {};
      const isOpenToAll = Array.isArray(operation['security']) && operation['security'].length === 0;
      const needed = [
        { status: '401', because: 'it needs a credential, which can be missing or unknown', applies: !isOpenToAll },
        { status: '403', because: 'a live service refuses it', applies: operation['x-sandbox-only'] === true },
        // A PUT creates the resource at the end of its path, so the resource need not exist.
        {
          status: '404',
          because: 'its path names something that may not exist',
          applies: namesResource(operation, resolve, String(key)) && !(method === 'put' && String(key).endsWith('}')),
        },
        { status: '422', because: 'its body can break a rule', applies: operation['requestBody'] !== undefined },
      ];
      for (const { status, because, applies } of needed) {
        if (!applies || status in responses) continue;
        report({
          message: `${method.toUpperCase()} ${String(key)} has no ${status} response, but ${because}. Add it under responses.`,
          location: location.child([method, 'responses']).key(),
        });
      }
    }
  },
});

/** Whether the path has parameters, and not all of them have a closed list of values, of which any other is refused with 400. */
function namesResource(operation: Fields, resolve: UserContext['resolve'], path: string): boolean {
  const parameters: readonly unknown[] = Array.isArray(operation['parameters']) ? operation['parameters'] : [];
  const named = parameters.flatMap((parameter) => {
    const { node }: { node?: unknown } = resolve(Object(parameter));
    return isFields(node) && node['in'] === 'path' ? [node] : [];
  });
  return path.includes('{') && !(named.length > 0 && named.every(({ schema }) => isFields(schema) && Array.isArray(schema['enum'])));
}
