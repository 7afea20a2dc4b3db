import { isFields } from './nodes.ts';
import type { Fields } from './nodes.ts';

/** Provenance of a fact, from the strongest to the weakest (EXTENSIONS.md). */
const PROVENANCES = ['shown', 'inferred', 'not-shown'] as const;
export type Provenance = (typeof PROVENANCES)[number];

/** In a map of x-constraints, the key for all rules that the map does not name. */
export const ALL_RULES = '*';

/** Keywords of JSON Schema that allow some values of a type and forbid others. */
const CONSTRAINTS: ReadonlySet<string> = new Set(
  [
    'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf',
    'minLength maxLength pattern format',
    'minItems maxItems uniqueItems contains minContains maxContains',
    'minProperties maxProperties propertyNames dependentRequired dependentSchemas',
    'const enum not if',
  ].flatMap((line) => line.split(' ')),
);
/** Keywords that, when `false`, forbid everything that no other keyword describes. */
const CLOSING: ReadonlySet<string> = new Set(['additionalProperties', 'unevaluatedProperties', 'items', 'unevaluatedItems']);

/** Provenance that a place in a document inherits from the places above it. */
export interface Scope {
  readonly provenance: Provenance;
  /** Provenance of all rules here; undefined if no x-constraints gives it. */
  readonly constraints: Provenance | undefined;
}

export const OUTERMOST: Scope = { provenance: 'shown', constraints: undefined };

/** The keywords of the schema itself, without its parts, that constrain values. */
export function constraintsIn(schema: Fields): string[] {
  return Object.entries(schema)
    .filter(([key, value]) => {
      // Values that were not seen are also valid.
      if (key === 'enum') return schema['x-seen'] !== true;
      return CONSTRAINTS.has(key) || (CLOSING.has(key) && value === false);
    })
    .map(([key]) => key);
}

/** The scope of a part and of everything below it. */
export function scopeOf(part: unknown, { provenance, constraints }: Scope): Scope {
  if (!isFields(part)) return { provenance, constraints };
  const written = part['x-constraints'];
  return {
    provenance: asProvenance(part['x-provenance']) ?? provenance,
    constraints: asProvenance(isFields(written) ? written[ALL_RULES] : written) ?? constraints,
  };
}

/** Provenance of one keyword of a schema, or undefined if it has none. `scope` is that of the schema itself. */
export function provenanceOfConstraint(schema: Fields, keyword: string, { provenance, constraints }: Scope): Provenance | undefined {
  const written = schema['x-constraints'];
  const rule = asProvenance(isFields(written) ? written[keyword] : undefined) ?? constraints;
  if (rule === undefined) return provenance === 'shown' ? undefined : provenance;
  return PROVENANCES[Math.max(PROVENANCES.indexOf(rule), PROVENANCES.indexOf(provenance))];
}

function asProvenance(value: unknown): Provenance | undefined {
  return PROVENANCES.find((provenance) => provenance === value);
}
