import type { OpenApiDocument } from '@reseller/contract';
import { MASK, secretNames } from '@reseller/contract';

/** A value without secrets: a text with the name of a secret becomes `***`. */
export function withoutSecrets(document: OpenApiDocument, value: unknown): unknown {
  const names = secretNames(document);
  function masked(part: unknown, name: string): unknown {
    if (typeof part === 'string') return names.has(name) ? MASK : part;
    if (Array.isArray(part)) return part.map((item) => masked(item, name));
    if (typeof part !== 'object' || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([inner, member]) => [inner, masked(member, inner)]));
  }
  return masked(value, '');
}
