/** Paths with identifiers in them. */
import { encode } from './encode.ts';
import type { Refuse } from './form.ts';
import type { RequestOptions } from './options.ts';

/** The path of an operation, an identifier in place of each `{name}`. */
export type Fill = (options: RequestOptions, refuse: Refuse) => string;

export const fill: Fill = ({ url, path }, refuse) =>
  url.replace(/\{(\w+)\}/g, (_, name: string) => {
    const text = String(Object(path)[name] ?? '');
    // A dot segment would be another path; no identifier begins like a value that is no text, `[object Object]`.
    const segment = /^(\.{0,2}|NaN|-?Infinity|\[.*)$/.test(text) ? '' : encode(text);
    if (!segment) refuse(name, 'type', 'is no identifier');
    return segment ?? '';
  });
