import type { OpenApiDocument } from '@reseller/contract';
import { MASK, secretNames } from '@reseller/contract';

/**
 * A value without secrets: a text with the name of a secret becomes `***`. The bodies in a log of requests stay readable except for the
 * secrets in them, because the service has masked them, too, and they are why a request was refused.
 */
export function withoutSecrets(document: OpenApiDocument, value: unknown): unknown {
  const names = secretNames(document);
  function masked(part: unknown, name: string): unknown {
    if (typeof part === 'string') return names.has(name) ? (maskedJson(part) ?? MASK) : part;
    if (Array.isArray(part)) return part.map((item) => masked(item, name));
    if (typeof part !== 'object' || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([inner, member]) => [inner, masked(member, inner)]));
  }
  function maskedJson(text: string): string | undefined {
    if (!text.startsWith('{')) return undefined;
    try {
      return JSON.stringify(masked(JSON.parse(text), ''));
    } catch {
      return undefined;
    }
  }
  return masked(value, '');
}
