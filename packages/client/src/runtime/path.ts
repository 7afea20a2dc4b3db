/** Paths with identifiers in them. */
import { encode } from './encode.ts';
import type { Refuse } from './form.ts';

/** Puts identifiers into the path of an operation, in place of `{name}`. */
export type Fill = (template: string, values: unknown, refuse: Refuse) => string;

export const fill: Fill = (template, values, refuse) =>
  template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const text = String(Object(values)[name] ?? '');
    // A dot segment would be another path.
    const segment = /^(\.{0,2}|NaN|-?Infinity|\[object .*)$/.test(text) ? '' : encode(text);
    if (!segment) refuse(name, 'type', 'is no identifier');
    return segment ?? '';
  });
