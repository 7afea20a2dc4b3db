import { returnsJson } from '../applies.ts';
import type { Check } from '../check.ts';
import type { Remark } from '../finding.ts';
import { generalised } from '../schema-remarks.ts';

export const jsonUnambiguous: Check = {
  id: 'json-unambiguous',
  claim: 'Every JSON reader reads the same from the body: no member twice, no byte order mark.',
  judges:
    'By the bytes of the body, since readers drop both silently. RFC 8259 leaves open which of two members with one name counts, and forbids to send a byte order mark.',
  client: 'Two programs read different values from the same response; strict readers refuse it as a whole.',
  undescribed: 'also',
  applies: returnsJson,
  checkResponse({ exchange: { body, operation }, response }) {
    if (body.kind !== 'json') return [];
    const at = response === undefined ? `${operation.pointer}/responses` : `${response.holder}/content`;
    const remarks: Remark[] = body.duplicates.map((pointer) => ({
      pointer,
      verdict: 'violation',
      message: `${generalised(pointer, body.value)} stands twice in its object`,
      expected: 'each name once',
      observed: 'the same name twice',
      at,
      rule: `duplicate ${generalised(pointer, body.value)}`,
      cause: 'duplicate',
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
      });
    return remarks;
  },
  defect: {
    description: 'A member stands twice in its object.',
    tamper: ({ outcome, operation, response }) => {
      const [entry] = outcome === 'success' && operation?.readOnly === true ? Object.entries(Object(response.body)) : [];
      if (entry === undefined) return undefined;
      const [name, value] = [JSON.stringify(entry[0]), JSON.stringify(entry[1])];
      return { ...response, body: `{${name}:${value},${JSON.stringify(response.body).slice(1)}` };
    },
  },
};
