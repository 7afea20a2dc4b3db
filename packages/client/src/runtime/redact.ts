import { SECRETS } from '../generated/facts.gen.ts';
import { MASK } from './writing.ts';

/**
 * A copy of a value for logs: every property that the document marks as secret (`x-secret`) reads `***`.
 * Null stays null, as it says that there is no secret.
 */
export function redact(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(redact);
  if (typeof value !== 'object' || !value) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, item && SECRETS.has(name) ? MASK : redact(item)]));
}
