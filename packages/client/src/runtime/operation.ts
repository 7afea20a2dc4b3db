/** The facts about an operation in the document. `generate/operation-table.ts` writes one for each. */
export interface Operation {
  /** The operationId. */
  readonly id: string;
  /** Whether it changes nothing, changes something, or costs money each time it succeeds. */
  readonly effect: 'read' | 'write' | 'purchase';
  /** Whether a repeated request never has a second effect (`x-retry: safe`). */
  readonly repeatable?: boolean;
  /** Types of the fields of its form, in the order of the document. */
  readonly form?: Readonly<Record<string, FieldType>>;
  /** Fields that must be set. */
  readonly required?: readonly string[];
  /** Fields that must be set when another one is. */
  readonly needs?: Readonly<Record<string, readonly string[]>>;
  /** Fields with secrets or personal data, which are never shown. */
  readonly hidden?: readonly string[];
  /** Whether the form may have fields that the document does not name. */
  readonly openForm?: boolean;
  /** Where `data` is not an array although it holds a list. */
  readonly list?: ListShape;
  /** A property of `data` in every successful response. Without it, the response belongs to another operation. */
  readonly has?: string;
  /** The type of that property, if it has one. */
  readonly hasType?: 'number' | 'string' | 'object';
  /** The smallest and the largest value of that property. */
  readonly hasRange?: readonly [smallest: number, largest: number];
  /** Where `data` repeats a value of the form or the path: `{ cores: 'config.cores' }`. With another value, the response is that of another request. */
  readonly repeats?: Readonly<Record<string, string>>;
  /** The value of the path or the form that no second request can have and succeed (`x-evidence`). Without one, an entry of the log proves nothing. */
  readonly evidence?: string;
}

/** A list in a property of `data`, or a map whose keys become a property of each item. */
export type ListShape = { readonly property: string } | { readonly keyedBy: string };

/** `numeric` is a text of digits, which may also be given as a number, and `pairs` a text `key=value,key=value`, also given as an object. */
export type FieldType = 'string' | 'numeric' | 'pairs' | 'integer' | 'number' | 'boolean';
