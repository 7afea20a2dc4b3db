import type { Oas3Rule } from '@redocly/openapi-core';

import { isFields } from './nodes.ts';

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

/** Errors have explicit codes, because generators drop `default`. The kind and the input of an operation determine its errors. */
export const operationResponses: Oas3Rule = () => ({
  PathItem(item, { report, location, key }) {
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
          applies: String(key).includes('{') && !(method === 'put' && String(key).endsWith('}')),
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
