import type { OpenApiDocument } from '../document/document.ts';
import { isObject } from '../document/json.ts';
import type { Operation, RequestBody } from '../document/operation.ts';
import { requiredParameters } from '../document/parameters.ts';
import type { GivenValues, RequestParameters } from '../document/parameters.ts';
import { sampleOf } from '../document/sample.ts';
import type { Validator } from '../document/validator.ts';
import { needsNoField } from '../form/body.ts';
import { stepForm } from './step-form.ts';
import type { StepForm } from './step.ts';

/** The source of valid requests. */
export interface RequestSource {
  readonly document: OpenApiDocument;
  readonly operations: readonly Operation[];
  readonly validator: Validator;
  readonly seed: number;
  /** The values that the user gives. */
  readonly given: GivenValues;
}

/** The parameters and the body of a valid request of an operation. */
export interface Sendable {
  readonly parameters: RequestParameters;
  readonly form: StepForm | undefined;
}

/** The fields of a valid body. */
export interface BodyValues {
  readonly values: Readonly<Record<string, unknown>>;
  /** The whole JSON value, if it is not an object. */
  readonly whole?: unknown;
  readonly isFromDocument: boolean;
}

/** A valid request of an operation, or the reason why the document does not provide one. */
export function sendableOf(source: RequestSource, operation: Operation): Sendable | string {
  const { ownServer, unsupportedSecurity, unsupportedBody, body, method } = operation;
  if (method === 'TRACE') return 'requests with the method TRACE cannot be sent';
  if (ownServer !== undefined) return `the document gives it a server of its own (${ownServer}), and a run calls only its target`;
  if (unsupportedSecurity !== undefined) return unsupportedSecurity;
  if (unsupportedBody !== undefined) return unsupportedBody;
  const parameters = requiredParameters(source, operation);
  if (typeof parameters === 'string') return parameters;
  if (body === undefined) return { parameters, form: undefined };
  const valid = validBody(source, operation);
  if (valid === undefined && body.required)
    return `it needs a ${body.format === 'form' ? 'form' : body.format === 'json' ? 'JSON body' : 'text'}, for which the document has no example, and none could be made from its schema; give its fields with --value NAME=VALUE`;
  if (valid?.whole !== undefined) return { parameters, form: { ...valid, found: {} } };
  return { parameters, form: valid === undefined ? undefined : stepForm(source, operation, valid) };
}

/**
 * The first valid example of a body, else a body generated from the schema. A read gets an empty body if that is valid, because fields of reads
 * are mostly filters.
 */
export function validBody(source: RequestSource, operation: Operation): BodyValues | undefined {
  const { body } = operation;
  if (body === undefined) return undefined;
  if (body.isWhole) return wholeBody(source, body);
  const given = givenFields(source, body);
  const plain = plainBody(source, operation);
  if (Object.keys(given).length === 0) return plain;
  const needed = [...body.fields.values()].filter(({ name, required }) => required && !Object.hasOwn(given, name));
  const others = needed.map(({ name, pointer }) => [name, sampleOf(source, pointer)?.value] as const);
  const values = { ...(plain?.values ?? Object.fromEntries(others)), ...given };
  const isValid = source.validator.compile(body.pointer)(values).length === 0;
  return isValid ? { values, isFromDocument: plain?.isFromDocument ?? false } : undefined;
}

/** The fields of a body for which the user gives values, each as JSON where the field is not a text. */
function givenFields({ given }: RequestSource, body: RequestBody): Readonly<Record<string, unknown>> {
  const known = Object.entries(given.values).filter(([name]) => body.fields.has(name));
  return Object.fromEntries(known.map(([name, text]) => [name, body.fields.get(name)?.kind === 'string' ? text : parsed(text)]));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A valid text, or a valid JSON body that is not an object: an example, else a value generated from the schema. */
function wholeBody(source: RequestSource, { pointer, examples }: RequestBody): BodyValues | undefined {
  const check = source.validator.compile(pointer);
  const example = Object.values(examples).find(({ value }) => check(value).length === 0);
  const sample = example === undefined ? sampleOf(source, pointer) : { value: example.value, isFromDocument: true };
  return sample === undefined ? undefined : { values: {}, whole: sample.value, isFromDocument: sample.isFromDocument };
}

function plainBody(source: RequestSource, operation: Operation): BodyValues | undefined {
  const { body } = operation;
  if (body === undefined) return undefined;
  if (operation.readOnly && canBeEmpty(source, operation)) return { values: {}, isFromDocument: true };
  const [example] = validExamples(source, operation);
  if (example !== undefined) return { values: example.values, isFromDocument: true };
  const sample = sampleOf(source, body.pointer);
  return isObject(sample?.value) ? { values: sample.value, isFromDocument: sample.isFromDocument } : undefined;
}

/** Whether a body without any field is valid. */
export function canBeEmpty({ validator }: Pick<RequestSource, 'validator'>, { body }: Operation): boolean {
  return body !== undefined && !body.isWhole && needsNoField(body) && validator.compile(body.pointer)({}).length === 0;
}

/** The valid examples of a body. Invalid examples of the document are not sent. */
export function validExamples(
  { validator }: Pick<RequestSource, 'validator'>,
  { body }: Operation,
): readonly { readonly name: string; readonly values: Readonly<Record<string, unknown>> }[] {
  if (body === undefined) return [];
  const check = validator.compile(body.pointer);
  return Object.entries(body.examples).flatMap(([name, { value }]) =>
    isObject(value) && check(value).length === 0 ? [{ name, values: value }] : [],
  );
}
