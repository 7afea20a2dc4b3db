import { DocumentError } from './document.ts';
import { isObject, member } from './json.ts';
import type { JsonObject } from './json.ts';
import { joinPointer } from './pointer.ts';
import { sampleOf } from './sample.ts';
import type { SampleSource } from './sample.ts';
import { schemaNodes, typesOf } from './schema.ts';

/** A valid value that a service handles less often than the usual one, with its description. */
export interface SpecialValue {
  readonly value: unknown;
  readonly what: string;
}

/** Letters of several scripts, and a character outside the basic multilingual plane. */
export const FREE_TEXT = 'Zoë Åström 漢字 🛠';
const MAX_TEXT_LENGTH = 1_000;
const MAX_ITEMS = 20;

/**
 * Valid values of a schema that show whether a service handles all of it: each listed value, each alternative, null, the edges of numbers,
 * lists and texts, and text that is not ASCII.
 */
export function specialValues(source: SampleSource, pointer: string): readonly SpecialValue[] {
  const nodes = schemaNodes(source.document, pointer);
  const types = typesOf(nodes);
  // The schema at the place itself has precedence over those that it refers to.
  const schema: JsonObject = Object.assign({}, ...nodes.map((node) => node.schema).toReversed());
  const found: SpecialValue[] = [
    ...listed(schema),
    ...alternativesIn(source, nodes),
    ...(types.has('null') ? [{ value: null, what: 'null' }] : []),
    ...(types.has('boolean') ? [true, false].map((value) => ({ value, what: String(value) })) : []),
    ...(types.has('integer') || types.has('number') ? edges(schema) : []),
    ...(types.has('string') && schema['enum'] === undefined && schema['const'] === undefined ? specialTexts(schema) : []),
    ...(types.has('array') ? lists(source, nodes, schema) : []),
  ];
  const fits = fitting(source, pointer);
  const seen = new Set<string>();
  return found.filter(({ value }) => {
    const key = JSON.stringify(value);
    return !seen.has(key) && seen.add(key) && fits(value);
  });
}

function fitting({ validator }: SampleSource, pointer: string): (value: unknown) => boolean {
  try {
    const check = validator.compile(pointer);
    return (value) => check(value).length === 0;
  } catch (error) {
    if (error instanceof DocumentError) return () => false;
    throw error;
  }
}

function listed({ enum: values }: JsonObject): readonly SpecialValue[] {
  return Array.isArray(values) ? values.map((value) => ({ value, what: JSON.stringify(value) })) : [];
}

/** A valid value for each alternative of a schema. */
export function alternativeValues(source: SampleSource, pointer: string): readonly SpecialValue[] {
  const fits = fitting(source, pointer);
  return alternativesIn(source, schemaNodes(source.document, pointer)).filter(({ value }) => fits(value));
}

function alternativesIn(source: SampleSource, nodes: ReturnType<typeof schemaNodes>): readonly SpecialValue[] {
  return nodes.flatMap((node) =>
    (['oneOf', 'anyOf'] as const).flatMap((keyword) => {
      const branches = member(node.schema, keyword);
      if (!Array.isArray(branches)) return [];
      return branches.flatMap((_, index) => {
        const sample = sampleOf(source, joinPointer(node.pointer, keyword, index));
        return sample === undefined ? [] : [{ value: sample.value, what: `alternative ${index + 1}` }];
      });
    }),
  );
}

function edges({ minimum, maximum }: JsonObject): readonly SpecialValue[] {
  return [
    ...(typeof minimum === 'number' ? [{ value: minimum, what: 'at its minimum' }] : []),
    ...(typeof maximum === 'number' ? [{ value: maximum, what: 'at its maximum' }] : []),
  ];
}

function specialTexts({ minLength = 0, maxLength, pattern, format }: JsonObject): readonly SpecialValue[] {
  if (pattern !== undefined || format !== undefined) return [];
  const min = Number(minLength);
  const max = typeof maxLength === 'number' ? maxLength : undefined;
  const free = [...FREE_TEXT.padEnd(min, 'é')].slice(0, max).join('');
  return [
    { value: free, what: 'with letters that are not ASCII' },
    ...(min > 0 && min <= MAX_TEXT_LENGTH ? [{ value: 'x'.repeat(min), what: 'as short as allowed' }] : []),
    ...(max !== undefined && max <= MAX_TEXT_LENGTH ? [{ value: 'x'.repeat(max), what: 'as long as allowed' }] : []),
  ];
}

function lists(
  source: SampleSource,
  nodes: ReturnType<typeof schemaNodes>,
  { minItems = 0, maxItems }: JsonObject,
): readonly SpecialValue[] {
  const holder = nodes.find(({ schema }) => isObject(schema['items']));
  const sample = holder === undefined ? undefined : sampleOf(source, joinPointer(holder.pointer, 'items'));
  const itemSchema =
    holder === undefined
      ? {}
      : Object.assign({}, ...schemaNodes(source.document, joinPointer(holder.pointer, 'items')).map(({ schema }) => schema));
  const listedItems = listed(itemSchema).map(({ value }) => value);
  function many(length: number): readonly unknown[] {
    return Array.from({ length }, () => sample?.value);
  }
  return [
    ...(minItems === 0 ? [{ value: [], what: 'empty' }] : []),
    ...(sample === undefined ? [] : [{ value: many(Math.max(1, Number(minItems))), what: 'with one item' }]),
    // Only several items show how a list is written.
    ...(listedItems.length > 1 ? [{ value: listedItems.slice(0, MAX_ITEMS), what: 'with all listed items' }] : []),
    ...(sample !== undefined && typeof maxItems === 'number' && maxItems <= MAX_ITEMS
      ? [{ value: many(maxItems), what: 'with all allowed items' }]
      : []),
  ];
}
