import type { OpenApiDocument } from '../../document/document.ts';
import { isObject, typeOf } from '../../document/json.ts';
import { responseFor } from '../../document/operations.ts';
import { walkDescribed } from '../../document/place.ts';
import type { Place } from '../../document/place.ts';
import { parentPointer } from '../../document/pointer.ts';
import { keysOf } from '../../document/schema.ts';
import { isSuccess, jsonOf, jsonValue } from '../../exchange/exchange.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { always } from '../applies.ts';
import type { Check, Pair, RunContext } from '../check.ts';
import type { RunRemark } from '../finding.ts';
import { OBSERVED, shapeSchema } from '../infer.ts';
import type { Proposal } from '../proposal.ts';
import { alterFirst, isPayload } from '../tamper.ts';

export const parity: Check = {
  id: 'parity',
  claim: 'Two services with the same document, such as live and sandbox, return the same shapes.',
  judges:
    'Sends the requests that read to both services (`--compare URL`). Compares statuses, the properties of objects that both return, and the types of values other than null. Does not compare values, lengths of lists and keys of maps. Each service gets identifiers from its own responses; without one, the operation is unverified. An optional property may be missing in one service.',
  client: 'Code that you tested in the sandbox fails on the live service.',
  needs: ['compare'],
  applies: always,
  checkRun: (context) => [...context.pairs.flatMap((pair) => compare(context, pair)), ...context.unpaired.map(unverified)],
  defect: {
    description: 'One of the two services sends a number as a string.',
    needsComparison: true,
    tamper: (exchange) =>
      alterFirst(
        exchange,
        (place) => isPayload(place) && typeof place.value === 'number',
        ({ value }) => String(value),
      ),
  },
};

function compare({ document }: RunContext, { one, other }: Pair): readonly RunRemark[] {
  const base = { exchange: one, verdict: 'violation' as const, at: one.operation.pointer };
  if (isSuccess(one.status) !== isSuccess(other.status)) {
    // For one resource, "not found" on one service is a difference of data.
    if (one.operation.path.includes('{')) return [unverified(one)];
    return [
      {
        ...base,
        pointer: '',
        message: 'one service responds with success, the other does not',
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
    if (theirs === undefined || [...types].some((type) => theirs.has(type))) continue;
    remarks.push({
      ...base,
      pointer: pattern,
      message: `${pattern} has different types in the two services`,
      expected: [...types].join(' or '),
      observed: [...theirs].join(' or '),
      rule: pattern,
    });
  }
  remarks.push(
    ...onlyIn(shape, compared).map((only) => ({
      ...base,
      ...only,
      message: `the compared service does not send ${only.pointer}`,
      observed: 'missing in the compared service',
    })),
  );
  remarks.push(
    ...onlyIn(compared, shape).map((only) => ({
      ...base,
      ...only,
      message: `only the compared service sends ${only.pointer}`,
      observed: 'missing in the target',
    })),
  );
  return remarks;
}

/** Properties that only the first shape has, in objects of both. Optional properties are left out. */
function onlyIn(one: Shape, other: Shape): readonly Pick<RunRemark, 'pointer' | 'verdict' | 'expected' | 'rule' | 'proposal'>[] {
  return [...one.places].flatMap(([pattern, place]) => {
    const holder = parentPointer(pattern);
    if (pattern.endsWith('/*') || !other.objects.has(holder) || other.places.has(pattern)) return [];
    const proposal = optional(place);
    return proposal === undefined
      ? []
      : [{ pointer: pattern, verdict: 'discovered' as const, expected: 'a property of both', rule: pattern, proposal }];
  });
}

/** The change that makes a property optional; undefined when it already is. */
function optional({ name, parents, nodes, value }: Place): Proposal | undefined {
  const requiring = parents.find(({ schema }) => Array.isArray(schema['required']) && schema['required'].includes(name));
  if (requiring !== undefined) return { kind: 'remove-item', at: `${requiring.pointer}/required`, value: name };
  if (nodes.length > 0 || parents.some(({ schema }) => keysOf(schema, 'properties').includes(name))) return undefined;
  const owner = parents.findLast(({ schema }) => keysOf(schema, 'properties').length > 0) ?? parents[0];
  if (owner === undefined) return undefined;
  return {
    kind: 'add-entry',
    at: `${owner.pointer}/properties`,
    key: name,
    value: { ...shapeSchema(value), 'x-provenance': 'inferred', description: OBSERVED },
  };
}

/** A read that was not compared, because the compared service returned no identifier for it. */
function unverified(exchange: Exchange): RunRemark {
  return {
    exchange,
    pointer: '',
    verdict: 'unverified',
    message: 'no response of the compared service has an identifier for this operation, so the responses were not compared',
    expected: 'an identifier in a response of the compared service',
    observed: 'none',
    at: exchange.operation.pointer,
    rule: 'not compared',
  };
}

interface Shape {
  readonly objects: ReadonlySet<string>;
  readonly types: ReadonlyMap<string, ReadonlySet<string>>;
  /** The first place of each pattern. */
  readonly places: ReadonlyMap<string, Place>;
}

function shapeOf(document: OpenApiDocument, exchange: Exchange): Shape {
  const places = new Map<string, Place>();
  const objects = new Set<string>();
  const types = new Map<string, Set<string>>();
  const response = responseFor(exchange.operation, exchange.status);
  const pointer = response === undefined ? undefined : jsonOf(response)?.pointer;
  if (pointer === undefined) return { places, objects, types };
  walkDescribed(document, { pointer, provenance: 'shown' }, jsonValue(exchange), (place) => {
    const { pattern, value, nodes, parents, name } = place;
    // An unknown property keeps its name, because both services may have it.
    const isUnknown = nodes.length === 0 && parents.some(({ schema }) => isObject(schema['properties']));
    const key = isUnknown ? pattern.replace(/\*$/, name) : pattern;
    if (!places.has(key)) places.set(key, place);
    if (isObject(value)) objects.add(key);
    const type = typeOf(value);
    if (type !== 'null') types.set(key, (types.get(key) ?? new Set()).add(type === 'integer' ? 'number' : type));
    return true;
  });
  return { places, objects, types };
}
