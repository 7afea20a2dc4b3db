import { isObject, returnsJson, jsonValue, shapeOf } from '@reseller/contract/engine';
import type { Check, Exchange } from '@reseller/contract/engine';

export const envelopeKept: Check = {
  id: 'envelope-kept',
  claim: 'Responses with an undescribed status have the envelope of the described responses, without a payload on failure.',
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
    const { payload } = envelope;
    const isFilled = exchange.status >= 400 && payload !== undefined && isObject(value) && (value[payload] ?? null) !== null;
    if (missing.length === 0 && !isFilled) return [];
    return [
      {
        pointer: '',
        verdict: 'violation',
        message: missing.length > 0 ? `the envelope lacks ${missing.join(', ')}` : `${payload} is not null although the request failed`,
        expected: `an object with ${envelope.required.join(', ')}`,
        observed: body.kind === 'json' ? shapeOf(value) : body.kind === 'empty' ? 'an empty body' : body.problem,
        at: `${exchange.operation.pointer}/responses`,
        rule: missing.length > 0 ? `envelope ${missing.join(' ')}` : 'payload',
        assertion:
          missing.length > 0
            ? { kind: 'property', pointer: `/${missing[0] ?? ''}`, isPresent: true, ofAll: true }
            : { kind: 'rule', pointer: `/${payload ?? ''}`, keyword: 'type', limit: 'null' },
      },
    ];
  },
};

export const requestIdUnique: Check = {
  id: 'request-id-unique',
  claim: 'No two responses of a run have the same request identifier.',
  judges: 'Compares the request identifiers of all responses of the run, except null.',
  client: 'When you report a failure by its identifier, the provider finds another request.',
  undescribed: 'also',
  applies: returnsJson,
  checkRun({ exchanges, envelope }) {
    const { identifier } = envelope;
    if (identifier === undefined) return [];
    const first = new Map<string, Exchange>();
    return exchanges.flatMap((exchange) => {
      const value = jsonValue(exchange);
      const id = isObject(value) ? value[identifier] : undefined;
      if (typeof id !== 'string') return [];
      const earlier = first.get(id);
      if (earlier === undefined) {
        first.set(id, exchange);
        return [];
      }
      return [
        {
          exchange,
          pointer: `/${identifier}`,
          verdict: 'violation' as const,
          message: `${identifier} is the same as in an earlier response`,
          expected: 'a different value for each request',
          observed: `the value of ${earlier.operation.id}`,
          at: '/components',
          rule: 'repeated',
          assertion: { kind: 'values-differ' as const, pointer: `/${identifier}` },
          shownBy: [earlier, exchange],
        },
      ];
    });
  },
};
