import type { FIELD_RULES } from '../generated/facts.gen.ts';

/** The name of a rule, as the document lists them. */
export type FieldRule = (typeof FIELD_RULES)[number];

/** A rule that a field of a form breaks. */
export interface BrokenField {
  readonly field: string;
  readonly rule: FieldRule;
  /** The expectation. It completes a sentence that begins with the name of the field. */
  readonly message: string;
}
