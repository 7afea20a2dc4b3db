import { returnsJson } from '../applies.ts';
import type { Assertion } from '../assertion.ts';
import type { Check } from '../check.ts';
import type { Remark } from '../finding.ts';
import { generalised } from '../schema-remarks.ts';

const UNAMBIGUOUS: Assertion = { kind: 'body', is: 'unambiguous' };

export const jsonUnambiguous: Check = {
  id: 'json-unambiguous',
  claim: 'All JSON parsers read the same value from the body: it has no duplicate member and no byte order mark.',
  example: 'A body is `{"id": 1, "id": 2}`: parsers disagree about its identifier.',
  judges:
    'Reads the bytes of the body, because parsers silently drop both. RFC 8259 does not define which of two members with the same name counts, and forbids byte order marks.',
  client: 'Two programs read different values from the same response, and strict parsers reject it.',
  undescribed: 'also',
  applies: returnsJson,
  checkResponse({ exchange: { body, operation }, response }) {
    if (body.kind !== 'json') return [];
    const at = response === undefined ? `${operation.pointer}/responses` : `${response.holder}/content`;
    const remarks: Remark[] = body.duplicates.map((pointer) => ({
      pointer,
      verdict: 'violation',
      message: `${generalised(pointer, body.value)} appears twice in its object`,
      expected: 'each name once',
      observed: 'the same name twice',
      at,
      rule: `duplicate ${generalised(pointer, body.value)}`,
      cause: 'duplicate',
      assertion: UNAMBIGUOUS,
    }));
    if (body.hasByteOrderMark)
      remarks.push({
        pointer: '',
        verdict: 'violation',
        message: 'the JSON begins with a byte order mark',
        expected: 'JSON without a byte order mark',
        observed: 'U+FEFF before the JSON',
        at,
        rule: 'byte order mark',
        cause: 'byte order mark',
        assertion: UNAMBIGUOUS,
      });
    return remarks;
  },
};
