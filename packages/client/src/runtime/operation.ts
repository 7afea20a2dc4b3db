/** The facts about an operation in the document. `generate/operation-table.ts` writes one for each. */
export interface Operation {
  /** The operationId. */
  readonly id: string;
  /** Whether it changes nothing, changes something, or costs money each time it succeeds. */
  readonly effect: 'read' | 'write' | 'purchase';
  /** Whether a repeated request never has a second effect (`x-retry: safe`). */
  readonly repeatable?: boolean;
  /** Whether it takes an `Idempotency-Key`. */
  readonly keyed?: boolean;
  /** Fields of its form, in the order of the document. */
  readonly form?: Readonly<Record<string, Field>>;
  /** Whether the form may have fields that the document does not name. */
  readonly openForm?: boolean;
  /** Where `data` is not an array although it holds a list. */
  readonly list?: ListShape;
  /** Where `data`, as the client returns it, holds instants: `*.startDate.value`. */
  readonly instants?: readonly string[];
}

/** A list in a property of `data`, or a map whose keys become a property of each item. */
export type ListShape = { readonly property: string } | { readonly keyedBy: string };

export interface Field {
  readonly type: FieldType;
  readonly required?: boolean;
  readonly secret?: boolean;
  readonly personal?: boolean;
  /** Fields that must be set when this one is. */
  readonly needs?: readonly string[];
}

export type FieldType = 'string' | 'integer' | 'number' | 'boolean';
