import type { JsonObject } from './json.ts';

/** One rule that a value breaks. */
export interface Issue {
  /** JSON pointer into the value; for a missing or unknown property it names that property. */
  readonly path: string;
  /** The broken rule: a JSON Schema keyword, or `repeated` or `malformed` from reading a form. */
  readonly keyword: string;
  /** The expectation, as the rest of a sentence that begins with the name of the field: "must be an integer". Never holds the value. */
  readonly message: string;
  /** The rule's own values, such as `{limit: 16}`. */
  readonly params: JsonObject;
  /** JSON pointer into the document to the rule, empty where no schema states it. */
  readonly schemaPath: string;
}

/** What a valid value has; one shared list, so that finding nothing allocates nothing. */
export const NO_ISSUES: readonly Issue[] = Object.freeze([]);
