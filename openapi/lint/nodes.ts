/** A part of a document that has fields, as YAML gives it: nothing is known of it yet. */
export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a text says anything. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

export function isReference(value: unknown): value is Fields & { readonly $ref: string } {
  return isFields(value) && typeof value['$ref'] === 'string';
}

/** The entries of a map, none if it is missing. */
export function entriesOf(value: unknown): [string, unknown][] {
  return isFields(value) ? Object.entries(value) : [];
}
