import { returnsJson } from '../applies.ts';
import type { Check } from '../check.ts';
import { isSuccess, jsonValue } from '../exchange.ts';
import { isObject } from '../json.ts';
import { remarkOf } from '../schema-remarks.ts';

export const requestId: Check = {
  id: 'request-id',
  claim: 'Every response names its request, as a UUID, and as null only where the document says so.',
  judges:
    'The property is the one that every described response requires as a UUID. The schema of the response says whether null is allowed.',
  client: 'The error your users send you has no number that the provider could look up.',
  undescribed: 'also',
  applies: returnsJson,
  checkResponse(context) {
    const { exchange, response, json, envelope, issues } = context;
    const { identifier } = envelope;
    const value = jsonValue(exchange);
    if (identifier === undefined || !isObject(value)) return [];
    if (response !== undefined && json?.pointer !== undefined)
      return issues()
        .filter(({ path }) => path === `/${identifier}`)
        .map((issue) => remarkOf(context, issue));
    if (typeof value[identifier] === 'string' || value[identifier] === null) return [];
    return [
      {
        pointer: `/${identifier}`,
        verdict: 'violation',
        message: `the response lacks ${identifier}`,
        expected: 'a UUID',
        observed: 'nothing',
        at: `${exchange.operation.pointer}/responses`,
        rule: 'missing',
      },
    ];
  },
  defect: {
    description: 'The identifier of the request is null where only a UUID is described.',
    tamper: ({ response }) =>
      isSuccess(response.status) && isObject(response.body) && typeof response.body['requestID'] === 'string'
        ? { ...response, body: { ...response.body, requestID: null } }
        : undefined,
  },
};
