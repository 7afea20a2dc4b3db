import type { JsonObject } from './json.ts';

/** A rule that a value breaks. */
export interface Issue {
  /** JSON pointer into the value. It includes the name of a missing or unknown property. */
  readonly path: string;
  /** The broken rule: a JSON Schema keyword, or `repeated` or `malformed` when parsing a form. */
  readonly keyword: string;
  /** The expectation, to be read after the name of the field: "must be an integer". Never contains the value. */
  readonly message: string;
  /** The parameters of the rule, such as `{limit: 16}`. */
  readonly params: JsonObject;
  /** JSON pointer to the rule in the document; empty when no schema has it. */
  readonly schemaPath: string;
}

/** The result for a valid value. It is shared, so that it needs no allocation. */
export const NO_ISSUES: readonly Issue[] = Object.freeze([]);
