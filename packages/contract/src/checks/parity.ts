import { isSuccess, jsonOf, jsonValue, type Answer } from '../answer.ts';
import { always } from '../applies.ts';
import type { Check, Pair, Session } from '../check.ts';
import type { RunRemark } from '../finding.ts';
import { isObject, typeOf } from '../json.ts';
import { responseFor } from '../operations.ts';
import { walkDescribed } from '../place.ts';
import { alterFirst, isPayload } from '../tamper.ts';
import type { OpenApiDocument } from '../document.ts';

export const parity: Check = {
  id: 'parity',
  claim: 'Two services that are said to be the same, such as live and sandbox, answer the same shapes.',
  judges:
    'Sends what reads to both (`--compare URL`) and compares statuses, the properties of objects that both have, and the types of values that are null in neither. Values, lengths of lists and keys of maps differ by nature. What one of the two has not is not compared.',
  client: 'What you tested in the sandbox fails on the live service.',
  needs: ['compare'],
  applies: always,
  conclude: (session) => session.pairs.flatMap((pair) => compare(session, pair)),
  defect: {
    says: 'One of the two services sends a number as text.',
    needsComparison: true,
    tamper: (exchange) =>
      alterFirst(
        exchange,
        (place) => isPayload(place) && typeof place.value === 'number',
        ({ value }) => String(value),
      ),
  },
};

function compare({ document }: Session, { one, other }: Pair): readonly RunRemark[] {
  const base = { answer: one, verdict: 'violation' as const, at: one.operation.pointer };
  if (isSuccess(one.status) !== isSuccess(other.status)) {
    // Not found on one of the two is a matter of data where an identifier was asked for.
    if (one.operation.path.includes('{')) return [];
    return [
      {
        ...base,
        pointer: '',
        message: 'one service answers with success, the other does not',
        expected: String(one.status),
        observed: String(other.status),
        rule: 'status',
      },
    ];
  }
  const shape = shapeOf(document, one);
  const compared = shapeOf(document, other);
  const remarks: RunRemark[] = [];
  for (const [pattern, types] of shape.types) {
    const theirs = compared.types.get(pattern);
    if (theirs !== undefined) {
      if (![...types].some((type) => theirs.has(type)))
        remarks.push({
          ...base,
          pointer: pattern,
          message: `${pattern} has another type`,
          expected: [...types].join(' or '),
          observed: [...theirs].join(' or '),
          rule: pattern,
        });
      continue;
    }
    const holder = pattern.slice(0, pattern.lastIndexOf('/'));
    if (!pattern.endsWith('/*') && compared.objects.has(holder) && !compared.names.has(pattern))
      remarks.push({
        ...base,
        verdict: 'discovered',
        pointer: pattern,
        message: `${pattern} is sent by one service only`,
        expected: 'a property of both',
        observed: 'missing in the other',
        rule: pattern,
      });
  }
  for (const pattern of compared.names) {
    const holder = pattern.slice(0, pattern.lastIndexOf('/'));
    if (!pattern.endsWith('/*') && shape.objects.has(holder) && !shape.names.has(pattern))
      remarks.push({
        ...base,
        verdict: 'discovered',
        pointer: pattern,
        message: `${pattern} is sent by the compared service only`,
        expected: 'a property of both',
        observed: 'missing in this one',
        rule: pattern,
      });
  }
  return remarks;
}

interface Shape {
  readonly names: ReadonlySet<string>;
  readonly objects: ReadonlySet<string>;
  readonly types: ReadonlyMap<string, ReadonlySet<string>>;
}

function shapeOf(document: OpenApiDocument, answer: Answer): Shape {
  const names = new Set<string>();
  const objects = new Set<string>();
  const types = new Map<string, Set<string>>();
  const response = responseFor(answer.operation, answer.status);
  const pointer = response === undefined ? undefined : jsonOf(response)?.pointer;
  if (pointer === undefined) return { names, objects, types };
  walkDescribed(document, { pointer, provenance: 'shown' }, jsonValue(answer), ({ pattern, value, nodes, parents, name }) => {
    // An unknown property keeps its name here, as both services may have it.
    const isUnknown = nodes.length === 0 && parents.some(({ schema }) => isObject(schema['properties']));
    const key = isUnknown ? pattern.replace(/\*$/, name) : pattern;
    names.add(key);
    if (isObject(value)) objects.add(key);
    const type = typeOf(value);
    if (type !== 'null') types.set(key, (types.get(key) ?? new Set()).add(type === 'integer' ? 'number' : type));
    return true;
  });
  return { names, objects, types };
}
