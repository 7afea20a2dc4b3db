import { SECRETS } from '../generated/facts.gen.ts';
import { MASK } from './form.ts';

/**
 * A copy of a value for logs, as JSON has it: every property that the document marks as secret (`x-secret`) reads `***`.
 * Null stays null, as it says that there is no secret.
 */
export const redact = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (name, item) => (item && SECRETS.has(name) ? MASK : item)) ?? 'null');
