import { jsonValue } from '../exchange.ts';
import type { Answer } from '../exchange.ts';
import { answersJson } from '../applies.ts';
import type { Check } from '../check.ts';
import { isObject } from '../json.ts';

export const requestIdUnique: Check = {
  id: 'request-id-unique',
  claim: 'No two answers of a run name the same request.',
  judges: 'Compares the identifiers of all answers of the run that are not null.',
  client: 'A failure that you report by its number is looked up as another request.',
  undescribed: 'too',
  applies: answersJson,
  conclude({ answers, envelope }) {
    const { identifier } = envelope;
    if (identifier === undefined) return [];
    const first = new Map<string, Answer>();
    return answers.flatMap((answer) => {
      const value = jsonValue(answer);
      const id = isObject(value) ? value[identifier] : undefined;
      if (typeof id !== 'string') return [];
      const earlier = first.get(id);
      if (earlier === undefined) {
        first.set(id, answer);
        return [];
      }
      return [
        {
          answer,
          pointer: `/${identifier}`,
          verdict: 'violation' as const,
          message: `${identifier} is the same as that of an earlier answer`,
          expected: 'a value of its own for each request',
          observed: `the value of ${earlier.operation.id}`,
          at: '/components',
          rule: 'repeated',
        },
      ];
    });
  },
  defect: {
    says: 'All answers have the same identifier.',
    tamper: ({ answer }) =>
      isObject(answer.body) && typeof answer.body['requestID'] === 'string'
        ? { ...answer, body: { ...answer.body, requestID: '0192f672-7daa-7a31-9c02-6de1f0a47b58' } }
        : undefined,
  },
};
