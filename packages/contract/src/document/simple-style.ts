import type { OpenApiDocument } from './document.ts';
import type { Issue } from './issues.ts';
import { typesOf } from './schema.ts';
import { rootView } from './view.ts';
import type { View } from './view.ts';

const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

/** A schema, and whether its objects are written as `name=value` instead of `name,value`. */
export interface SimpleStyle {
  readonly pointer: string;
  readonly explode: boolean;
}

/**
 * The issues of a text in the style `simple`, which headers and path parameters have: a scalar as it is, a list with commas,
 * an object as a list of names and values. The schema defines the type to which the text is converted.
 */
export function issuesOfSimple(
  document: OpenApiDocument,
  { pointer, explode }: SimpleStyle,
  text: string,
  check: (value: unknown) => readonly Issue[],
): readonly Issue[] {
  const converted = readSimple(rootView(document, pointer), text, explode);
  const issues = check(converted);
  return issues.length > 0 && converted !== text && check(text).length === 0 ? [] : issues;
}

function readSimple(view: View, text: string, explode: boolean): unknown {
  const types = typesOf(view.nodes);
  if (types.has('array')) return text.trim() === '' ? [] : text.split(',').map((item) => readByType(view.member(0).view, item.trim()));
  if (types.has('object')) return readObject(view, text, explode);
  return readByType(view, text);
}

function readObject(view: View, text: string, explode: boolean): unknown {
  const parts = text.split(',').map((part) => part.trim());
  const entries = explode
    ? parts.map((part) => [part.slice(0, Math.max(0, part.indexOf('='))), part.slice(part.indexOf('=') + 1)] as const)
    : parts.flatMap((name, index) => (index % 2 === 0 && parts[index + 1] !== undefined ? [[name, parts[index + 1] ?? ''] as const] : []));
  return Object.fromEntries(
    entries.filter(([name]) => name !== '').map(([name, value]) => [name, readByType(view.member(name).view, value)]),
  );
}

function readByType(view: View, text: string): unknown {
  const types = typesOf(view.nodes);
  const isOpen = types.size === 0;
  if ((isOpen || types.has('integer') || types.has('number')) && NUMBER.test(text)) return Number(text);
  if ((isOpen || types.has('boolean')) && (text === 'true' || text === 'false')) return text === 'true';
  return types.has('null') && text === 'null' ? null : text;
}
