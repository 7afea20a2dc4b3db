import { isObject, member } from './json.ts';
import type { JsonObject } from './json.ts';

/** The origin of a fact in the document (openapi/EXTENSIONS.md). */
export type Provenance = 'shown' | 'inferred' | 'not-shown';

/** From the strongest to the weakest. */
const PROVENANCES: readonly Provenance[] = ['shown', 'inferred', 'not-shown'];
/** In an `x-constraints` map: the key for all rules that are not listed. */
const ALL_RULES = '*';
/** Keywords to which `x-provenance` applies. `x-constraints` applies to all others. */
const PRESENCE_KEYWORDS: ReadonlySet<string> = new Set(['type', 'required']);

/** The provenance of an object, or the inherited one. */
export function provenanceOf(value: unknown, inherited: Provenance): Provenance {
  return asProvenance(isObject(value) ? member(value, 'x-provenance') : undefined) ?? inherited;
}

/** The provenance of the rules of a schema and all schemas below it by `x-constraints`, or the inherited one. */
export function constraintsOf(schema: JsonObject, inherited: Provenance | undefined): Provenance | undefined {
  const written = member(schema, 'x-constraints');
  return asProvenance(isObject(written) ? member(written, ALL_RULES) : written) ?? inherited;
}

/**
 * The provenance of one rule of a schema. It is never stronger than that of the schema or of the value.
 * @param place the schema object with the rule, or undefined when no schema has it
 * @param provenance the provenance of the value or the property
 */
export function ruleProvenance(
  place: { readonly schema: JsonObject; readonly provenance: Provenance; readonly constraints: Provenance | undefined } | undefined,
  keyword: string,
  provenance: Provenance,
): Provenance {
  if (place === undefined) return provenance;
  const written = member(place.schema, 'x-constraints');
  const named = asProvenance(isObject(written) ? member(written, keyword) : undefined);
  const rule = named ?? (PRESENCE_KEYWORDS.has(keyword) ? undefined : place.constraints);
  const held = weaker(place.provenance, provenance);
  return rule === undefined ? held : weaker(rule, held);
}

function weaker(one: Provenance, other: Provenance): Provenance {
  return PROVENANCES.indexOf(one) > PROVENANCES.indexOf(other) ? one : other;
}

function asProvenance(value: unknown): Provenance | undefined {
  return PROVENANCES.find((provenance) => provenance === value);
}
