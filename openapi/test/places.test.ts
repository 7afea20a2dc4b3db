/** The provider decides what each host system offers. A sentence about the places of the sandbox must not read as a rule for every provider. */
import { expect, test } from 'vitest';

import operatorDocument from '../generated/operator.json' with { type: 'json' };
import serviceDocument from '../generated/service.json' with { type: 'json' };

const PLACE = /Frankfurt(?! am Main)|Netherlands|Amsterdam|Vienna/;

/** The sentences of all descriptions and summaries, without those of examples. */
function sentencesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]: [string, unknown]) => {
    if (name === 'example' || name === 'examples') return [];
    const isText = typeof member === 'string' && (name === 'description' || name === 'summary');
    return isText ? member.split(/(?<=[.;])\s+/) : sentencesIn(member);
  });
}

test.each([
  ['reseller', serviceDocument],
  ['operator', operatorDocument],
])('a sentence of the %s document about a place says that it is one of the sandbox', (_, document) => {
  const sentences = sentencesIn(document);
  expect(sentences.length).toBeGreaterThan(1_000);
  expect(sentences.filter((sentence) => PLACE.test(sentence) && !sentence.includes('sandbox'))).toEqual([]);
});
