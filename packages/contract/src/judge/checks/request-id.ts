import { isObject } from '../../document/json.ts';
import { isSuccess, jsonValue } from '../../exchange/exchange.ts';
import { returnsJson } from '../applies.ts';
import type { Check } from '../check.ts';
import { remarkOf } from '../schema-remarks.ts';

export const requestId: Check = {
  id: 'request-id',
  claim: 'Every response has the identifier of its request: a UUID, or null where the document allows it.',
  judges:
    'Judges the property that every described response requires as a UUID. The schema of the response defines whether null is allowed.',
  client: 'An error that your users report has no identifier that the provider could look up.',
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
    description: 'The request identifier is null where the document describes only a UUID.',
    tamper: ({ response }) =>
      isSuccess(response.status) && isObject(response.body) && typeof response.body['requestID'] === 'string'
        ? { ...response, body: { ...response.body, requestID: null } }
        : undefined,
  },
};
