import { isObject, member } from './json.ts';

/** Where a fact in the document comes from (openapi/EXTENSIONS.md). */
export type Provenance = 'shown' | 'inferred' | 'not-shown';

/** The provenance written at a place, or the one it inherits from above. */
export function provenanceOf(value: unknown, inherited: Provenance): Provenance {
  const written = isObject(value) ? member(value, 'x-provenance') : undefined;
  return written === 'shown' || written === 'inferred' || written === 'not-shown' ? written : inherited;
}
