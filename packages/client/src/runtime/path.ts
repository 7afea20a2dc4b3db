/** Paths with identifiers in them. */
import { encode } from './encode.ts';
import type { Refuse, Values } from './form.ts';

/** The path of an operation, an identifier in place of each `{name}`. */
export type Fill = (url: string, path: Values, refuse: Refuse) => string;

export const fill: Fill = (url, path, refuse) =>
  url.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = path[name];
    const text = typeof value === 'string' || Number.isSafeInteger(value) ? encode(String(value)) : '';
    // A dot segment would be another path.
    if (!text || /^\.+$/.test(text)) refuse(name, 'type', 'no identifier');
    return String(text);
  });
