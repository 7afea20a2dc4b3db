import { SECRETS } from './generated/document.gen.ts';
import { MASK } from './runtime/form.ts';

/**
 * A copy of a value for logs: every property that the document marks as secret (`x-secret`) reads `***`. Null stays null, since it
 * says that there is no secret.
 */
export function redact(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (name, item) => (item && SECRETS.has(name) ? MASK : item)) ?? 'null');
}
