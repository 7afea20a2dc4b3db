import { isObject, member } from './json.ts';
import type { JsonObject } from './json.ts';

/** Where a fact in the document comes from (openapi/EXTENSIONS.md). */
export type Provenance = 'shown' | 'inferred' | 'not-shown';

/** From the firmest to the weakest. */
const PROVENANCES: readonly Provenance[] = ['shown', 'inferred', 'not-shown'];
/** In an `x-constraints` map: all rules that the map does not name. */
const ALL_RULES = '*';
/** The types and the presence of properties follow `x-provenance`; every other keyword constrains a value. */
const PRESENCE_KEYWORDS: ReadonlySet<string> = new Set(['type', 'required']);

/** The provenance written at a place, or the one it inherits from above. */
export function provenanceOf(value: unknown, inherited: Provenance): Provenance {
  return asProvenance(isObject(value) ? member(value, 'x-provenance') : undefined) ?? inherited;
}

/** What `x-constraints` says of the rules of a schema and of all schemas below it, or the rules that it inherits from above. */
export function constraintsOf(schema: JsonObject, inherited: Provenance | undefined): Provenance | undefined {
  const written = member(schema, 'x-constraints');
  return asProvenance(isObject(written) ? member(written, ALL_RULES) : written) ?? inherited;
}

/**
 * The provenance of one rule of a schema. A rule is never firmer than the schema that holds it, nor than the value that it speaks of.
 * @param place the schema object that holds the rule, or undefined where no schema states it
 * @param provenance that of the value or the property that the rule speaks of
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
