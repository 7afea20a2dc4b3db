/** Derives the fields of a form from the schemas of a document. */
import { valueAt } from '@reseller/contract';
import type { OpenApiDocument } from '@reseller/contract';

/** A value of a request. */
export interface Field {
  readonly name: string;
  readonly description: string;
  readonly required: boolean;
  readonly nullable: boolean;
  /** `lines` is a list of texts, one per line. `json` is anything that needs its structure written out. */
  readonly kind: 'text' | 'integer' | 'boolean' | 'enum' | 'lines' | 'object' | 'variant' | 'json';
  readonly values?: readonly (string | number)[];
  readonly fields?: readonly Field[];
  /** The variants of an object, by the value of its property `kind`. */
  readonly variants?: readonly Variant[];
  readonly example?: unknown;
}

export interface Variant {
  readonly title: string;
  readonly description: string;
  readonly fields: readonly Field[];
}

type Json = Readonly<Record<string, unknown>>;

export interface FieldReader {
  fieldOf(name: string, schema: unknown, required: boolean, example?: unknown): Field;
  /** The fields of an object. */
  fieldsOf(schema: unknown, example?: unknown): Field[];
}

export function createFieldReader(document: OpenApiDocument): FieldReader {
  /** The object that a reference names, with what is written next to the reference. */
  function resolved(value: unknown): Json {
    const { $ref, ...own } = Object(value);
    return typeof $ref === 'string' ? { ...resolved(valueAt(document, $ref.slice(1))), ...own } : own;
  }

  /** The schema without null, and whether it had it. */
  function withoutNull(given: unknown): { readonly schema: Json; readonly nullable: boolean } {
    const schema = resolved(given);
    const { anyOf, type } = schema;
    if (Array.isArray(anyOf)) {
      const others = anyOf.map(resolved).filter((one) => one['type'] !== 'null');
      return { schema: { ...others[0], ...schema, anyOf: undefined }, nullable: others.length < anyOf.length };
    }
    if (!Array.isArray(type)) return { schema, nullable: false };
    return { schema: { ...schema, type: type.find((one) => one !== 'null') }, nullable: type.includes('null') };
  }

  function fieldsOf(schema: unknown, example?: unknown): Field[] {
    const { required, properties } = resolved(schema);
    const names: readonly unknown[] = Array.isArray(required) ? required : [];
    return Object.entries(Object(properties)).map(([name, part]) => fieldOf(name, part, names.includes(name), Object(example)[name]));
  }

  function variantsOf(list: readonly unknown[]): Variant[] {
    return list.map(resolved).map((variant) => ({
      title: String(variant['title']),
      description: String(variant['description']),
      fields: fieldsOf(variant).filter(({ name }) => name !== 'kind'),
    }));
  }

  function fieldOf(name: string, given: unknown, required: boolean, example?: unknown): Field {
    const { schema, nullable } = withoutNull(given);
    const { type, enum: values, oneOf, properties, items, additionalProperties } = schema;
    const common = {
      name,
      description: String(schema['description'] ?? ''),
      required,
      nullable,
      ...(example === undefined ? {} : { example }),
    };
    if (Array.isArray(oneOf)) return { ...common, kind: 'variant', variants: variantsOf(oneOf) };
    if (Array.isArray(values)) return { ...common, kind: 'enum', values };
    if (type === 'integer' || type === 'boolean') return { ...common, kind: type };
    if (type === 'array' && resolved(items)['type'] === 'string') {
      const { enum: choices } = resolved(items);
      return { ...common, kind: 'lines', ...(Array.isArray(choices) ? { values: choices } : {}) };
    }
    if (type === 'object' && properties !== undefined && typeof additionalProperties !== 'object') {
      const fields = fieldsOf(schema, example);
      if (fields.every(({ kind }) => kind !== 'json' && kind !== 'object')) return { ...common, kind: 'object', fields };
    }
    return { ...common, kind: type === 'string' ? 'text' : 'json' };
  }

  return { fieldOf, fieldsOf };
}
