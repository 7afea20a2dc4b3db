import type { AnswerCheck } from '../finding.ts';
import { isObject } from '../json.ts';
import { shapeOf } from '../observe.ts';

/** Where a status is described, its schema speaks for itself; this is for the answers that no schema describes. */
export const envelopeKept: AnswerCheck = {
  id: 'envelope',
  claim: 'Answers with a status that is not described keep the envelope that all described answers have.',
  isFinal: false,
  look({ answer, response, envelope }) {
    if (response !== undefined || envelope.length === 0) return [];
    const { body } = answer;
    const value = body.kind === 'json' ? body.value : undefined;
    const missing = isObject(value) ? envelope.filter((name) => !Object.hasOwn(value, name)) : envelope;
    if (missing.length === 0) return [];
    return [
      {
        pointer: '',
        verdict: 'violation',
        message: `the envelope lacks ${missing.join(', ')}`,
        expected: `an object with ${envelope.join(', ')}`,
        observed: body.kind === 'json' ? shapeOf(value) : body.kind === 'empty' ? 'an empty body' : body.problem,
        rule: 'envelope',
      },
    ];
  },
};
