import { readFile } from 'node:fs/promises';

import { parseDocument, readOperations } from '@reseller/contract';
import type { Operation } from '@reseller/contract';

/** A form, or undefined for no body. */
export interface Case {
  readonly what: string;
  readonly form: Readonly<Record<string, unknown>> | undefined;
}

/** Every operation of the bundle. */
export async function operationsOfBundle(): Promise<readonly Operation[]> {
  const text = await readFile(new URL(import.meta.resolve('@reseller/openapi/service.json')), 'utf8');
  return readOperations(parseDocument(JSON.parse(text)));
}

/** The bodies that an operation must accept: each example of its form, and no body if it is optional. */
export function goodForms({ form }: Operation): readonly Case[] {
  const examples = Object.entries(form?.examples ?? {}).map(([name, { value }]) => ({
    what: `the form '${name}'`,
    form: entriesOf(value),
  }));
  return form?.required ? examples : [...examples, { what: 'no body', form: undefined }];
}

/** One form with all fields of the examples; undefined if the operation has no form. */
export function completeForm({ form }: Operation): Case['form'] {
  return form && Object.assign({}, ...Object.values(form.examples).map(({ value }) => value));
}

/** A form that breaks one rule of the document. */
export interface BrokenForm extends Case {
  readonly field: string;
  readonly rule: string;
}

/** Forms that each break one rule of the document (names, required fields, types, dependencies), derived from the complete form. */
export function brokenForms(operation: Operation): readonly BrokenForm[] {
  const { form } = operation;
  const complete = completeForm(operation);
  if (form === undefined || complete === undefined) return [];
  const without = (name: string) => Object.fromEntries(Object.entries(complete).filter(([key]) => key !== name));
  const fields = [...form.fields.values()];
  const dependent = entriesOf(entriesOf(form.schema)['dependentRequired']);
  return [
    { what: 'an unknown field', field: 'no_such_field', rule: 'unknown', form: { ...complete, no_such_field: 'x' } },
    ...fields
      .filter(({ required }) => required)
      .map(({ name }) => ({ what: `no ${name}`, field: name, rule: 'required', form: without(name) })),
    ...fields
      .filter(({ kind }) => kind === 'integer' || kind === 'boolean')
      .map(({ name, kind }) => ({
        what: `a ${name} that is no ${kind}`,
        field: name,
        rule: 'type',
        form: { ...complete, [name]: 'many' },
      })),
    ...Object.entries(dependent).flatMap(([name, needed]) =>
      Object.values(entriesOf(needed)).map((other) => ({
        what: `${name} without ${String(other)}`,
        field: String(other),
        rule: 'dependentRequired',
        form: { ...without(String(other)), [name]: complete[name] ?? 'ns1.reseller-customer.net' },
      })),
    ),
  ];
}

/** The first example of a response, which is the one that the mock returns. */
export function firstExample(operation: Operation, status: number): unknown {
  return Object.values(operation.responses[status]?.content['application/json']?.examples ?? {})[0]?.value;
}

/** Values for the path, from the examples of its parameters. */
export function pathOf({ parameters }: Operation): Readonly<Record<string, unknown>> {
  return Object.fromEntries(parameters.filter((parameter) => parameter.in === 'path').map(({ name, examples }) => [name, examples[0]]));
}

function entriesOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}
