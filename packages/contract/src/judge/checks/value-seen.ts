import { walkDescribed } from '../../document/place.ts';
import type { SchemaNode } from '../../document/schema.ts';
import { describes } from '../applies.ts';
import type { Check } from '../check.ts';
import type { Remark } from '../finding.ts';

export const valueSeen: Check = {
  id: 'value-seen',
  claim: 'The document lists every value of an open enumeration that responses contain.',
  example: '`state` is an open enumeration with the values `open` and `paid`, and a response has `void`.',
  judges:
    'Judges enumerations with the mark `x-seen`, which list known values and allow any other string. A new value is valid, so it is a discovery.',
  client: 'The type allows the value, because the enumeration is open. A `switch` without a default branch ignores it.',
  applies: describes(isOpenEnumeration),
  checkResponse({ document, exchange, response, json }) {
    if (response === undefined || json?.pointer === undefined || exchange.body.kind !== 'json') return [];
    const remarks: Remark[] = [];
    walkDescribed(
      document,
      { pointer: json.pointer, provenance: response.provenance },
      exchange.body.value,
      ({ pointer, pattern, value, nodes }) => {
        const lists = nodes.filter(isOpenEnumeration);
        const seen = lists.flatMap(valuesOf);
        const isSecret = nodes.some(({ schema }) => schema['x-secret'] === true);
        const [list] = lists;
        if (list === undefined || typeof value !== 'string' || seen.includes(value)) return true;
        const shown = isSecret ? '***' : JSON.stringify(value);
        const at = `${lists.at(-1)?.pointer ?? list.pointer}/enum`;
        remarks.push({
          pointer,
          verdict: 'discovered',
          message: `${pattern} has the value ${shown}, which the document does not list`,
          expected: seen.join(', '),
          observed: shown,
          at,
          rule: isSecret ? 'secret' : value,
          assertion: { kind: 'rule', pointer, keyword: 'enum', limit: seen },
          proposal: isSecret ? undefined : { kind: 'add-item', at, value },
        });
        return true;
      },
    );
    return remarks;
  },
};

/** `x-seen` marks the branch with the known values (openapi/EXTENSIONS.md). */
function isOpenEnumeration({ schema }: SchemaNode): boolean {
  return schema['x-seen'] === true && Array.isArray(schema['enum']);
}

function valuesOf({ schema }: SchemaNode): readonly unknown[] {
  return Array.isArray(schema['enum']) ? schema['enum'] : [];
}
