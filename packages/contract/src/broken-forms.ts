import { writeForm, readForm } from './form.ts';
import { isObject, member } from './json.ts';
import type { FormField, Operation } from './operation.ts';
import { schemaNodes } from './schema.ts';
import type { OpenApiDocument } from './document.ts';
import type { Validator } from './validator.ts';

/** A form that breaks exactly one rule. */
export interface BrokenForm {
  readonly values: Readonly<Record<string, unknown>>;
  /** What is wrong with it: "cores below its minimum". */
  readonly detail: string;
  /** The field that is wrong; empty for none of the described ones. */
  readonly field: string;
}

type Values = Readonly<Record<string, unknown>>;

/**
 * Forms that break one rule of the document each, made from a valid one, in an order that depends on the seed. Each of them
 * was judged invalid by the validator before it is given out.
 */
export function brokenForms(
  parts: { readonly document: OpenApiDocument; readonly validator: Validator; readonly seed: number },
  operation: Operation,
  valid: Values,
): readonly BrokenForm[] {
  const { form } = operation;
  if (form === undefined) return [];
  const made: BrokenForm[] = [];
  for (const field of form.fields.values()) {
    if (field.required)
      made.push({ values: { ...valid, [field.name]: undefined }, detail: `without the required field ${field.name}`, field: field.name });
    for (const [value, what] of wrongValues(parts.document, field))
      made.push({ values: { ...valid, [field.name]: value }, detail: `${field.name} ${what}`, field: field.name });
  }
  made.push({ values: { ...valid, not_a_field: 'x' }, detail: 'an unknown field', field: '' });
  const needs = isObject(form.schema) ? member(form.schema, 'dependentRequired') : undefined;
  if (isObject(needs)) for (const name of Object.keys(needs)) made.push(...lonely(valid, name, needs[name]));
  const check = parts.validator.compile(form.pointer);
  const broken = made.filter(({ values }) => {
    const reading = readForm(operation, writeForm(operation, values));
    return reading.issues.length > 0 || check(reading.values).length > 0;
  });
  return shuffled(broken, parts.seed);
}

function lonely(valid: Values, name: string, needed: unknown): readonly BrokenForm[] {
  if (!Array.isArray(needed)) return [];
  const left = Object.fromEntries(Object.entries(valid).filter(([key]) => !needed.includes(key)));
  return [
    { values: { ...left, [name]: member(valid, name) ?? 'x.example.org' }, detail: `${name} without ${needed.join(' and ')}`, field: name },
  ];
}

function wrongValues(document: OpenApiDocument, field: FormField): readonly (readonly [unknown, string])[] {
  const schema = Object.assign(
    {},
    ...schemaNodes(document, field.pointer)
      .map((node) => node.schema)
      .toReversed(),
  );
  const found: (readonly [unknown, string])[] = [];
  const { minimum, maximum, minLength, maxLength, pattern, format } = schema;
  if (field.kind === 'integer' || field.kind === 'number') found.push(['many', 'as a word in place of a number']);
  if (field.kind === 'boolean') found.push(['perhaps', 'as a word in place of true or false']);
  if (typeof minimum === 'number') found.push([minimum - 1, 'below its minimum']);
  if (typeof maximum === 'number') found.push([maximum + 1, 'above its maximum']);
  if (field.kind !== 'string') return found;
  if (typeof minLength === 'number' && minLength > 0) found.push(['x'.repeat(minLength - 1), 'shorter than allowed']);
  if (typeof maxLength === 'number' && maxLength < 10_000) found.push(['x'.repeat(maxLength + 1), 'longer than allowed']);
  if (typeof pattern === 'string') found.push(['!', 'against its pattern']);
  if (typeof format === 'string') found.push(['not of this kind', `not of the format ${format}`]);
  return found;
}

/** The same order for the same seed (mulberry32). */
function shuffled<Item>(items: readonly Item[], seed: number): readonly Item[] {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return items
    .map((item) => ({ item, rank: next() }))
    .toSorted((one, other) => one.rank - other.rank)
    .map(({ item }) => item);
}
