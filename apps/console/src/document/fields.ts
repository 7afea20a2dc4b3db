/** Derives the fields of a form from the schemas of a document. */
import { readOperations, valueAt } from '@reseller/contract';
import type { OpenApiDocument } from '@reseller/contract';

type Kind = 'text' | 'number' | 'integer' | 'boolean' | 'enum' | 'day' | 'instant' | 'lines' | 'object' | 'variant' | 'rows' | 'map';

/** A list that an operation returns. */
export interface List {
  readonly operation: string;
  /** The member of an item that identifies it. */
  readonly value: string;
}

/** A value of a request. */
export interface Field {
  readonly name: string;
  readonly description: string;
  readonly required: boolean;
  readonly nullable: boolean;
  /**
   * `lines` is a list of texts, one per line. `rows` is a list of objects, and `map` is an object whose names the person chooses.
   */
  readonly kind: Kind;
  readonly values?: readonly (string | number)[];
  /** The fields of an object, of each row or of each value of a map. */
  readonly fields?: readonly Field[];
  /** The names of a map. */
  readonly key?: Field;
  /** The list that has what the value identifies. */
  readonly list?: List;
  /** Whether the page may make up the value. */
  readonly anyName?: boolean;
  /** The variants of an object, by the value of its property `kind`. */
  readonly variants?: readonly Variant[];
  /** The unit of the number in the document, if a person writes it in another one. */
  readonly unit?: string;
  /** The least and the greatest number. */
  readonly bounds?: readonly [number | undefined, number | undefined];
  /** The label of the field. Default: its name. */
  readonly title?: string;
  /** Texts that are usual, among others. */
  readonly suggestions?: readonly string[];
  readonly example?: unknown;
}

export interface Variant {
  readonly title: string;
  readonly description: string;
  readonly fields: readonly Field[];
}

type Json = Readonly<Record<string, unknown>>;

/** Facts from outside of the schema of a field. */
interface Given {
  readonly example?: unknown;
  /** The unit of the object that has the field. */
  readonly unit?: unknown;
}

export interface FieldReader {
  fieldOf(name: string, schema: unknown, required: boolean, given?: Given): Field;
  /** The fields of an object. */
  fieldsOf(schema: unknown, given?: Given): Field[];
}

/** The members that identify an item, in the order in which one of them is used. */
const IDENTIFIERS = ['id', 'tld', 'name'];

export function createFieldReader(document: OpenApiDocument): FieldReader {
  const operations = new Map(readOperations(document).map((operation) => [operation.id, operation]));

  function listOf(operation: unknown): { readonly list?: List } {
    if (typeof operation !== 'string') return {};
    const pointer = operations.get(operation)?.responses['200']?.content['application/json']?.pointer;
    const { properties } = pointer === undefined ? {} : resolved(valueAt(document, pointer));
    const item = resolved(resolved(Object(properties)['items'])['items']);
    const value = IDENTIFIERS.find((name) => Object.hasOwn(Object(item['properties']), name));
    if (value === undefined) throw new Error(`x-list names ${operation}, which is not an operation that returns a list.`);
    return { list: { operation, value } };
  }

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

  function fieldsOf(schema: unknown, { example, unit }: Given = {}): Field[] {
    const { required, properties } = resolved(schema);
    const names: readonly unknown[] = Array.isArray(required) ? required : [];
    return Object.entries(Object(properties)).map(([name, part]) =>
      fieldOf(name, part, names.includes(name), { example: Object(example)[name], unit }),
    );
  }

  function variantsOf(list: readonly unknown[]): Variant[] {
    return list.map(resolved).map((variant) => ({
      title: String(variant['title']),
      description: String(variant['description']),
      fields: fieldsOf(variant).filter(({ name }) => name !== 'kind'),
    }));
  }

  function fieldOf(name: string, written: unknown, required: boolean, { example, unit: inherited }: Given = {}): Field {
    const { schema, nullable } = withoutNull(written);
    const { title, 'x-unit': unit = inherited } = schema;
    const common = {
      name,
      description: forPerson(String(schema['description'] ?? ''), unit),
      required,
      nullable,
      ...(example === undefined ? {} : { example }),
      ...listOf(schema['x-list']),
      ...suggestionsOf(schema),
      ...(typeof title === 'string' ? { title } : {}),
    };
    const kind = kindOf(schema, { example, unit });
    if (kind === undefined) throw new Error(`No input fits the field ${name}. Add one for its schema.`);
    return { ...common, ...kind };
  }

  function kindOf(
    schema: Json,
    given: Given,
  ): Pick<Field, 'kind' | 'values' | 'fields' | 'key' | 'variants' | 'unit' | 'bounds'> | undefined {
    const { type, format, enum: values, oneOf, properties, items, additionalProperties } = schema;
    if (Array.isArray(oneOf)) return { kind: 'variant', variants: variantsOf(oneOf) };
    if (Array.isArray(values)) return { kind: 'enum', values };
    if (type === 'integer' && typeof given.unit === 'string') return { kind: type, unit: given.unit, bounds: boundsOf(schema) };
    if (type === 'integer' || type === 'number' || type === 'boolean') return { kind: type };
    if (type === 'string') return { kind: format === 'date' ? 'day' : format === 'date-time' ? 'instant' : 'text' };
    const item = resolved(type === 'array' ? items : additionalProperties);
    if (type === 'array' && item['type'] === 'string') {
      const { enum: choices } = item;
      return { kind: 'lines', ...(Array.isArray(choices) ? { values: choices } : {}) };
    }
    const fields = fieldsOf(item['type'] === 'object' ? item : schema, given);
    const isFlat = fields.every(({ kind }) => !['object', 'rows', 'map', 'variant'].includes(kind));
    if (type === 'array' && item['type'] === 'object' && isFlat) return { kind: 'rows', fields };
    if (type === 'object' && item['type'] === 'object' && isFlat)
      return { kind: 'map', fields, key: fieldOf('name', schema['propertyNames'], true) };
    return type === 'object' && properties !== undefined ? { kind: 'object', fields } : undefined;
  }

  return { fieldOf, fieldsOf };
}

/** A person leaves a field empty where a program sends null, and does not write the unit of a program. */
function forPerson(description: string, unit: unknown): string {
  return withoutUnit(description, unit)
    .replace(', and an empty list for none', '')
    .replaceAll(/\bnull(?: or absent)?(?= (?:for|if)\b)/g, 'empty')
    .replaceAll(/\bNull(?= to\b)/g, 'Leave it empty');
}

function suggestionsOf({ examples }: Json): Pick<Field, 'suggestions'> {
  return Array.isArray(examples) && examples.length > 1 ? { suggestions: examples.map(String) } : {};
}

function withoutUnit(description: string, unit: unknown): string {
  return typeof unit === 'string' ? description.replace(new RegExp(`,? in ${unit}\\b(?: \\(.*?\\))?`), '') : description;
}

function boundsOf({ minimum, maximum }: Json): [number | undefined, number | undefined] {
  return [typeof minimum === 'number' ? minimum : undefined, typeof maximum === 'number' ? maximum : undefined];
}
