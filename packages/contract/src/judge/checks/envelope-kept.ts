import { isObject } from '../../document/json.ts';
import { shapeOf } from '../../exchange/observe.ts';
import { returnsJson } from '../applies.ts';
import type { Check } from '../check.ts';

export const envelopeKept: Check = {
  id: 'envelope-kept',
  claim: 'Responses with an undescribed status have the envelope of the described responses.',
  judges:
    'The envelope consists of the top-level properties that every JSON response of the document requires; a document without such properties has none. Skips described statuses, because their schemas require the envelope.',
  client: 'Code that reads `status` and `message` of every failure gets `undefined`, and its user sees no reason.',
  undescribed: 'only',
  applies: returnsJson,
  checkResponse({ exchange, response, envelope }) {
    if (
      response !== undefined ||
      envelope.required.length === 0 ||
      exchange.sent.purpose === 'method' ||
      exchange.sent.method === 'HEAD' ||
      exchange.body.kind === 'cut'
    )
      return [];
    const { body } = exchange;
    const value = body.kind === 'json' ? body.value : undefined;
    const missing = isObject(value) ? envelope.required.filter((name) => !Object.hasOwn(value, name)) : envelope.required;
    if (missing.length === 0) return [];
    return [
      {
        pointer: '',
        verdict: 'violation',
        message: `the envelope lacks ${missing.join(', ')}`,
        expected: `an object with ${envelope.required.join(', ')}`,
        observed: body.kind === 'json' ? shapeOf(value) : body.kind === 'empty' ? 'an empty body' : body.problem,
        at: `${exchange.operation.pointer}/responses`,
        rule: `envelope ${missing.join(' ')}`,
      },
    ];
  },
  defect: {
    description: 'A gateway responds with 418 and plain text instead of the envelope.',
    tamper: ({ outcome, operation, response }) =>
      outcome === 'success' && operation?.readOnly === true
        ? { status: 418, headers: { ...response.headers, 'content-type': 'text/plain' }, body: 'short and stout' }
        : undefined,
  },
};
