/** The values of a form: texts by the path of their field, and the JSON that they stand for. */
import type { Field } from '../document/fields.ts';

/** Texts by path, such as `effect.milliseconds`. */
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

/** The texts for a resource as it is now, or else for the example of the document where a structure has to be written out. */
export function initialValues(fields: readonly Field[], current: unknown, prefix = ''): Values {
  return Object.assign({}, ...fields.map((field) => initialValue(field, Object(current)[field.name], `${prefix}${field.name}`)));
}

function initialValue(field: Field, value: unknown, path: string): Values {
  const { kind, fields = [], example, required } = field;
  switch (kind) {
    case 'object':
      return initialValues(fields, value, `${path}.`);
    case 'variant':
      return { [`${path}.kind`]: field.variants?.[0]?.title ?? '' };
    case 'lines':
      return { [path]: Array.isArray(value) ? value.join('\n') : '' };
    case 'json':
      return {
        [path]:
          value !== undefined ? JSON.stringify(value, null, 2) : required && example !== undefined ? JSON.stringify(example, null, 2) : '',
      };
    default:
      return { [path]: value === undefined || value === null ? '' : String(value) };
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
    const isUsed = (required && !nullable) || fields.some(({ name }) => (values[`${path}.${name}`] ?? '') !== '');
    return isUsed ? bodyOf(fields, values, `${path}.`) : undefined;
  }
  if (kind === 'variant') {
    const title = values[`${path}.kind`] ?? '';
    const variant = field.variants?.find((one) => one.title === title);
    return variant === undefined ? undefined : { kind: title, ...bodyOf(variant.fields, values, `${path}.`) };
  }
  const text = values[path] ?? '';
  return text === '' ? undefined : parsed(field, text, path);
}

function parsed({ kind, values: choices }: Field, text: string, path: string): unknown {
  switch (kind) {
    case 'integer':
      if (!/^-?\d+$/.test(text.trim())) throw new UnreadableField(path, 'must be a whole number');
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
    case 'json':
      try {
        return JSON.parse(text);
      } catch {
        throw new UnreadableField(path, 'must be JSON');
      }
    default:
      return text;
  }
}
