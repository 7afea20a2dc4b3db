/** The values of a form: texts by the path of their field, and the JSON that they stand for. */
import type { Field } from '../document/fields.ts';
import { quantityOf, quantityText } from '../document/units.ts';

/** Texts by path, such as `effect.milliseconds`. The path of a row has its index: `ipv4.0.address`. */
export type Values = Readonly<Record<string, string>>;

/** A field whose text cannot be read. */
export class UnreadableField extends Error {
  override readonly name = 'UnreadableField';
  readonly path: string;

  constructor(path: string, message: string) {
    super(message);
    this.path = path;
  }
}

/** The number of rows of a list or a map. */
export function rowsIn(values: Values, path: string): number {
  return Number(values[`${path}.rows`] ?? 0);
}

/** Whether a field of an object has a text. */
export function hasText(values: Values, path: string): boolean {
  return Object.entries(values).some(([name, text]) => name.startsWith(`${path}.`) && text !== '');
}

/** The values without one row. */
export function withoutRow(values: Values, path: string, removed: number): Values {
  const prefix = `${path}.`;
  const kept = Object.entries(values).flatMap(([name, text]): [string, string][] => {
    const [, index, rest] = (name.startsWith(prefix) && /^(\d+)(\..*)$/.exec(name.slice(prefix.length))) || [];
    if (index === undefined) return [[name, text]];
    const at = Number(index);
    return at === removed ? [] : [[`${prefix}${at > removed ? at - 1 : at}${rest}`, text]];
  });
  return { ...Object.fromEntries(kept), [`${path}.rows`]: String(rowsIn(values, path) - 1) };
}

/** The day on which an instant is. @param timeZone An IANA name. */
export function dayIn(timeZone: string, now: Date): string {
  // The Swedish form of a day is that of ISO 8601.
  return new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' }).format(now);
}

/** Whether a form has a day, also in a part of it. */
export function hasDay(fields: readonly Field[]): boolean {
  return fields.some(
    ({ kind, fields: parts = [], variants = [] }) => kind === 'day' || hasDay(parts) || variants.some((variant) => hasDay(variant.fields)),
  );
}

interface FirstValues {
  readonly prefix?: string;
  /** The first value of a day that is required. Default: none. */
  readonly today?: string;
}

/** The texts for a resource as it is now. Without one, a form is empty. */
export function initialValues(fields: readonly Field[], current: unknown, { prefix = '', today = '' }: FirstValues = {}): Values {
  return Object.assign({}, ...fields.map((field) => initialValue(field, Object(current)[field.name], `${prefix}${field.name}`, today)));
}

function initialValue(field: Field, value: unknown, path: string, today: string): Values {
  const { kind, fields = [], required } = field;
  switch (kind) {
    case 'object':
      return initialValues(fields, value, { prefix: `${path}.`, today });
    case 'variant': {
      const { kind: title = field.variants?.[0]?.title } = Object(value);
      const variant = field.variants?.find((one) => one.title === title);
      return { [`${path}.kind`]: String(title), ...initialValues(variant?.fields ?? [], value, { prefix: `${path}.`, today }) };
    }
    case 'lines':
      return { [path]: Array.isArray(value) ? value.join('\n') : '' };
    case 'rows': {
      const items: readonly unknown[] = Array.isArray(value) ? value : required ? [{}] : [];
      return Object.assign(
        { [`${path}.rows`]: String(items.length) },
        ...items.map((item, at) => initialValues(fields, item, { prefix: `${path}.${at}.`, today })),
      );
    }
    case 'map': {
      const entries = value === undefined && required ? [['', {}] as const] : Object.entries(Object(value));
      return Object.assign(
        { [`${path}.rows`]: String(entries.length) },
        ...entries.map(([name, item], at) => ({
          [`${path}.${at}.name`]: name,
          ...initialValues(fields, item, { prefix: `${path}.${at}.value.`, today }),
        })),
      );
    }
    case 'day':
      return { [path]: typeof value === 'string' ? value : required ? today : '' };
    case 'integer':
      if (field.unit !== undefined && typeof value === 'number') return { [path]: quantityText(field.unit, value) };
      return { [path]: value === undefined || value === null ? '' : String(value) };
    default:
      return { [path]: value === undefined || value === null ? '' : kind === 'instant' ? localInstant(String(value)) : String(value) };
  }
}

/** @throws UnreadableField if a text is not of the kind of its field. */
export function bodyOf(fields: readonly Field[], values: Values, prefix = ''): Record<string, unknown> {
  return Object.fromEntries(
    fields.flatMap((field): [string, unknown][] => {
      const value = valueOf(field, values, `${prefix}${field.name}`);
      if (value !== undefined) return [[field.name, value]];
      if (field.nullable && field.required) return [[field.name, null]];
      return field.required && field.kind === 'boolean' ? [[field.name, false]] : [];
    }),
  );
}

/** Undefined for a field that is left out. */
function valueOf(field: Field, values: Values, path: string): unknown {
  const { kind, fields = [], required, nullable } = field;
  if (kind === 'object') {
    return (required && !nullable) || hasText(values, path) ? bodyOf(fields, values, `${path}.`) : undefined;
  }
  if (kind === 'variant') {
    const title = values[`${path}.kind`] ?? '';
    const variant = field.variants?.find((one) => one.title === title);
    return variant === undefined ? undefined : { kind: title, ...bodyOf(variant.fields, values, `${path}.`) };
  }
  if (kind === 'rows' || kind === 'map') {
    const indexes = Array.from({ length: rowsIn(values, path) }, (_, at) => at);
    if (indexes.length === 0 && !required) return undefined;
    if (kind === 'rows') return indexes.map((at) => bodyOf(fields, values, `${path}.${at}.`));
    return Object.fromEntries(indexes.map((at) => [values[`${path}.${at}.name`] ?? '', bodyOf(fields, values, `${path}.${at}.value.`)]));
  }
  const text = values[path] ?? '';
  return text === '' ? undefined : parsed(field, text, path);
}

function parsed(field: Field, text: string, path: string): unknown {
  const { kind, values: choices, unit } = field;
  switch (kind) {
    case 'integer':
      if (unit !== undefined) return quantityIn(field, unit, text, path);
      if (!/^-?\d+$/.test(text.trim())) throw new UnreadableField(path, 'must be a whole number');
      return Number(text);
    case 'number':
      if (!/^-?\d+(\.\d+)?$/.test(text.trim())) throw new UnreadableField(path, 'must be a number, such as 1.5');
      return Number(text);
    case 'boolean':
      return text === 'true';
    case 'enum':
      return choices?.find((choice) => String(choice) === text) ?? text;
    case 'lines':
      return text
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line !== '');
    case 'instant':
      // The browser leaves out seconds of 0.
      return `${text.length === 16 ? `${text}:00` : text}Z`;
    default:
      return text;
  }
}

function quantityIn({ bounds: [least, most] = [undefined, undefined] }: Field, unit: string, text: string, path: string): number {
  try {
    const value = quantityOf(unit, text);
    if (least !== undefined && value < least) throw new RangeError(`must be at least ${quantityText(unit, least)}`);
    if (most !== undefined && value > most) throw new RangeError(`must be at most ${quantityText(unit, most)}`);
    return value;
  } catch (error) {
    if (error instanceof RangeError) throw new UnreadableField(path, error.message);
    throw error;
  }
}

/** An instant of the service as the input of the browser has it, without its zone, which is UTC. */
function localInstant(instant: string): string {
  return instant.replace('Z', '');
}
