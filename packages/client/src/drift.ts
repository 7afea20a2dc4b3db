import type { Shape } from './drift-shape.ts';
/** Differences between responses and the document. A separate entry, so that only programs that look for them load the shapes. */
import { OPERATION_SHAPES, SHAPES } from './generated/shapes.gen.ts';
import { redact } from './redact.ts';

export type { Shape } from './drift-shape.ts';

/** A difference between a response and the document. */
export interface Drift {
  readonly operation: string;
  /** Where in `data`: `config.password`; items of lists and maps by `*`. */
  readonly path: string;
  readonly kind: 'unknown-field' | 'unknown-value' | 'missing-field' | 'other-type';
  /** The value if it is unknown, or its type if that differs. Never a secret. */
  readonly found?: string;
}

/**
 * For `onDrift` of a client: reports each difference once.
 *
 * @param report Gets a field that is not described, a value that no enumeration names, a field that is missing, or another type.
 */
export function drift(report: (found: Drift) => void): (operation: string, data: unknown) => void {
  const known = new Set<string>();
  return (operation, data) => {
    const shape = OPERATION_SHAPES[operation];
    const envelope = typeof shape === 'string' ? resolve(shape) : shape;
    const within = typeof envelope === 'object' ? envelope.of?.['data'] : undefined;
    if (within === undefined) return;
    compare(within, redact(data), '', (path, kind, found) => {
      const name = `${operation} ${path} ${kind} ${found ?? ''}`;
      if (known.has(name)) return;
      known.add(name);
      report({ operation, path, kind, ...(found === undefined ? {} : { found }) });
    });
  };
}

type Report = (path: string, kind: Drift['kind'], found?: string) => void;

function compare(described: Shape, value: unknown, path: string, report: Report): void {
  const shape = resolve(described);
  function at(name: string) {
    return path === '' ? name : `${path}.${name}`;
  }
  if (typeof shape === 'string') {
    if (shape !== '' && !shape.includes(letterOf(value)) && !(shape.includes('n') && letterOf(value) === 'i'))
      report(path, 'other-type', letters[letterOf(value)]);
    return;
  }
  const { or = '', of, each, list, seen } = shape;
  if (seen && typeof value === 'string' && !seen.includes(value)) report(path, 'unknown-value', value);
  else if (Array.isArray(value) && list) for (const item of value) compare(list, item, at('*'), report);
  else if (isObject(value) && (of || each)) compareMembers(shape, value, at, report);
  else if (!seen && (or !== '' || of || each || list)) compare(or === '' ? 'o' : or, value, path, report);
}

function compareMembers({ of = {}, each }: Exclude<Shape, string>, value: object, at: (name: string) => string, report: Report): void {
  const members = new Map<string, unknown>(Object.entries(value));
  for (const [key, shape] of Object.entries(of)) {
    const name = key.replace(/\?$/, '');
    if (members.has(name)) compare(shape, members.get(name), at(name), report);
    else if (name === key) report(at(name), 'missing-field');
    members.delete(name);
  }
  for (const [name, member] of members) {
    if (each) compare(each, member, at('*'), report);
    else report(at(name), 'unknown-field');
  }
}

function resolve(shape: Shape): Shape {
  return typeof shape === 'string' ? (SHAPES[shape] ?? shape) : shape;
}

const letters: Readonly<Record<string, string>> = {
  s: 'string',
  i: 'integer',
  n: 'number',
  b: 'boolean',
  z: 'null',
  l: 'array',
  m: 'object',
};

function letterOf(value: unknown): string {
  if (value === null) return 'z';
  if (Array.isArray(value)) return 'l';
  if (typeof value === 'number') return Number.isInteger(value) ? 'i' : 'n';
  return typeof value === 'object' ? 'm' : typeof value === 'string' ? 's' : 'b';
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
