/** An object in a document, as parsed from YAML and not yet checked. */
export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a value is a text that is not blank. */
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

/** Whether a place is in a webhook, which the service sends. Rules about requests to the service do not apply to it. */
export function isInWebhook({ absolutePointer }: { readonly absolutePointer: string }): boolean {
  return absolutePointer.includes('/webhooks/');
}
