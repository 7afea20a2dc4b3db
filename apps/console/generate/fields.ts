/** Derives the fields of a form from the schemas of a document. */
import type { Field, Variant } from '../src/api/field.ts';

export type Json = Record<string, unknown>;

export interface Reader {
  /** The object that a reference refers to, or the object itself. */
  resolved(value: unknown): Json;
  field(name: string, schema: unknown, required: boolean, example?: unknown): Field;
}

export function createReader(document: unknown): Reader {
  function at(pointer: string): unknown {
    const tokens = pointer.split('/').slice(1);
    return tokens.reduce<unknown>((value, token) => Object(value)[token.replaceAll('~1', '/').replaceAll('~0', '~')], document);
  }

  function resolved(value: unknown): Json {
    const { $ref, ...own } = Object(value);
    return typeof $ref === 'string' ? { ...resolved(at($ref.slice(1))), ...own } : own;
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

  function fieldsOf(schema: Json, example?: unknown): Field[] {
    const required: readonly unknown[] = Array.isArray(schema['required']) ? schema['required'] : [];
    return Object.entries(Object(schema['properties'])).map(([name, part]) =>
      field(name, part, required.includes(name), Object(example)[name]),
    );
  }

  function variantsOf(list: readonly unknown[]): Variant[] {
    return list.map(resolved).map((variant) => ({
      title: String(variant['title']),
      description: String(variant['description']),
      fields: fieldsOf(variant).filter(({ name }) => name !== 'kind'),
    }));
  }

  function field(name: string, given: unknown, required: boolean, example?: unknown): Field {
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

  return { resolved, field };
}

/** The fields of the JSON body of an operation, with the values of its first example. */
export function bodyFields(reader: Reader, operation: Json): readonly Field[] {
  const content = Object(Object(operation['requestBody']).content)['application/json'];
  if (content === undefined) return [];
  const [first] = Object.values(Object(content.examples));
  const example = first === undefined ? undefined : reader.resolved(first)['value'];
  const schema = reader.resolved(content.schema);
  const required: readonly unknown[] = Array.isArray(schema['required']) ? schema['required'] : [];
  return Object.entries(Object(schema['properties'])).map(([name, part]) =>
    reader.field(name, part, required.includes(name), Object(example)[name]),
  );
}
