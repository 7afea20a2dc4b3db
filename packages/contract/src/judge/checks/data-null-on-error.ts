import { isObject } from '../../document/json.ts';
import { jsonValue } from '../../exchange/exchange.ts';
import { shapeOf } from '../../exchange/observe.ts';
import { returnsJson } from '../applies.ts';
import type { Check } from '../check.ts';

export const dataNullOnError: Check = {
  id: 'data-null-on-error',
  claim: 'On failure the payload of the envelope is null, unless the document describes another value.',
  judges: 'Compares a described failure with its schema. Accepts only null in an undescribed one.',
  client: 'Code that takes `data` as a sign of success is misled, because the type for this failure is null.',
  undescribed: 'also',
  applies: returnsJson,
  checkResponse({ exchange, response, json, envelope, issues }) {
    const value = jsonValue(exchange);
    const { payload } = envelope;
    if (exchange.status < 400 || payload === undefined || !isObject(value) || !Object.hasOwn(value, payload) || value[payload] === null)
      return [];
    const isDescribed = response !== undefined && json?.pointer !== undefined;
    if (isDescribed && !issues().some(({ path }) => path === `/${payload}`)) return [];
    return [
      {
        pointer: `/${payload}`,
        verdict: 'violation',
        message: `${payload} is not null although the request failed`,
        expected: 'null',
        observed: shapeOf(value[payload]),
        at: `${response?.holder ?? `${exchange.operation.pointer}/responses`}`,
        rule: 'payload',
      },
    ];
  },
  defect: {
    description: 'A failure has data that the document does not describe.',
    tamper: ({ outcome, response }) =>
      outcome === 'unauthorized' ? { ...response, body: { ...Object(response.body), data: { trace: 'at line 42' } } } : undefined,
  },
};
