/** The fields of a form, as the generator derives them from the operator document. */

/** A value of a request. */
export interface Field {
  readonly name: string;
  readonly description: string;
  readonly required: boolean;
  readonly nullable: boolean;
  /** `lines` is a list of texts, one per line. `json` is anything that needs its structure written out. */
  readonly kind: 'text' | 'integer' | 'boolean' | 'enum' | 'lines' | 'object' | 'variant' | 'json';
  readonly values?: readonly (string | number)[];
  readonly fields?: readonly Field[];
  /** The variants of an object, by the value of its property `kind`. */
  readonly variants?: readonly Variant[];
  readonly example?: unknown;
}

export interface Variant {
  readonly title: string;
  readonly description: string;
  readonly fields: readonly Field[];
}

/** What the console asks for before it sends an operation. */
export interface Form {
  readonly description: string;
  readonly path: readonly Field[];
  readonly query: readonly Field[];
  readonly body: readonly Field[];
}
