import type { AnswerCheck, Remark } from '../finding.ts';
import { walkDescribed } from '../place.ts';
import type { SchemaNode } from '../schema.ts';

export const valueSeen: AnswerCheck = {
  id: 'value-seen',
  claim: 'The values of open enumerations are among those that the document lists.',
  isFinal: false,
  look({ document, answer, response, json }) {
    if (response === undefined || json?.pointer === undefined || answer.body.kind !== 'json') return [];
    const remarks: Remark[] = [];
    walkDescribed(document, { pointer: json.pointer, provenance: response.provenance }, answer.body.value, ({ pointer, value, nodes }) => {
      const seen = nodes.flatMap(seenValues);
      const isSecret = nodes.some(({ schema }) => schema['x-secret'] === true);
      if (seen.length === 0 || typeof value !== 'string' || seen.includes(value)) return true;
      const shown = isSecret ? '***' : JSON.stringify(value);
      remarks.push({
        pointer,
        verdict: 'discovered',
        message: `the document does not list the value ${shown}`,
        expected: seen.join(', '),
        observed: shown,
        rule: `${nodes.map((node) => node.pointer).join(' ')} ${value}`,
      });
      return true;
    });
    return remarks;
  },
};

/** openapi/EXTENSIONS.md: `x-seen` stands on the branch whose values were seen. */
function seenValues({ schema }: SchemaNode): readonly unknown[] {
  return schema['x-seen'] === true && Array.isArray(schema['enum']) ? schema['enum'] : [];
}
