/** The rules of a form, read from the document independently of the service, so that tests do not repeat its mistakes. */
import document from '@reseller/openapi/service.json' with { type: 'json' };

import type { OperationId } from '../src/reseller/operation.ts';
import { apiOf } from './operations.ts';

/** The rules of a field's schema for its value. */
export interface FieldRules {
  readonly type: 'string' | 'integer' | 'boolean';
  readonly minimum?: number;
  readonly maximum?: number;
  readonly multipleOf?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
}

export interface FormRules {
  readonly fields: ReadonlyMap<string, FieldRules>;
  readonly required: readonly string[];
  /** Pairs of a field and one that must be given with it. */
  readonly needs: readonly (readonly [string, string])[];
}

/** Keywords of a schema that do not restrict values. */
const REMARKS = /^(?:description|examples|default|title|x-.*)$/;
const NUMBERS = ['minimum', 'maximum', 'multipleOf', 'minLength', 'maxLength'] as const;
const TEXTS = ['pattern', 'format'] as const;

/**
 * The rules of an operation's form.
 *
 * @throws Error for an unknown keyword. An author who adds a keyword to the document adds here how to break it.
 */
export function formRules(id: OperationId): FormRules {
  const { form } = apiOf(id).operation;
  const { type, properties, required, dependentRequired, dependentSchemas, additionalProperties, ...others } = keywordsOf(form?.schema);
  if (type !== 'object' || additionalProperties !== false)
    throw new Error(`${id} must take a form, which is an object without further fields.`);
  assertNoOthers(others, `the form of ${id}`);
  const fields = Object.entries<unknown>(Object(properties));
  const needs = [
    ...Object.entries<unknown>(Object(dependentRequired)),
    // The form of a rule that the specification does not show.
    ...Object.values<unknown>(Object(dependentSchemas)).flatMap((schema) =>
      Object.entries<unknown>(Object(Object(schema).dependentRequired)),
    ),
  ];
  return {
    fields: new Map(fields.map(([name, schema]) => [name, fieldRules(schema, `the field ${name} of ${id}`)])),
    required: textsOf(required),
    needs: needs.flatMap(([name, needed]) => textsOf(needed).map((other) => [name, other] as const)),
  };
}

function fieldRules(schema: unknown, where: string): FieldRules {
  const { type, anyOf, ...others } = keywordsOf(schema);
  if (type !== 'string' && type !== 'integer' && type !== 'boolean') throw new Error(`${where} has the type ${String(type)}.`);
  // An open enumeration: the seen values and any other. It refuses nothing.
  const isOpen = anyOf === undefined || (Array.isArray(anyOf) && anyOf.some((branch) => JSON.stringify(branch) === '{"type":"string"}'));
  if (!isOpen) throw new Error(`${where} has alternatives, which form-rules.ts does not know how to break.`);
  const known = new Set<string>([...NUMBERS, ...TEXTS]);
  assertNoOthers(Object.fromEntries(Object.entries(others).filter(([name]) => !known.has(name))), where);
  const numbers = NUMBERS.flatMap((name) => (typeof others[name] === 'number' ? [[name, others[name]] as const] : []));
  const texts = TEXTS.flatMap((name) => (typeof others[name] === 'string' ? [[name, others[name]] as const] : []));
  return { type, ...Object.fromEntries<number | string>([...numbers, ...texts]) };
}

/** The keywords of a schema, including those of the schemas that it refers to and consists of. */
function keywordsOf(schema: unknown): Readonly<Record<string, unknown>> {
  const { $ref, allOf, ...own }: Record<string, unknown> = Object(schema);
  if (Array.isArray(allOf)) return { ...Object.assign({}, ...allOf.map(keywordsOf)), ...own };
  if (typeof $ref !== 'string') return own;
  const target = Object.entries<unknown>(document.components.schemas).find(([name]) => $ref === `#/components/schemas/${name}`);
  return { ...keywordsOf(target?.[1]), ...own };
}

function textsOf(list: unknown): string[] {
  return Array.isArray(list) ? list.map(String) : [];
}

function assertNoOthers(keywords: Readonly<Record<string, unknown>>, where: string): void {
  const unknown = Object.keys(keywords).find((name) => !REMARKS.test(name));
  if (unknown !== undefined) throw new Error(`The keyword ${unknown} of ${where} is new: say in form-rules.ts how it is broken.`);
}
