import { randomInt, randomUUID } from 'node:crypto';

import { createValidator, responseFor } from '@reseller/contract';
import type { FormReading, OpenApiDocument, Operation, Parameter, Validator } from '@reseller/contract';
import {
  isCredential,
  issuesOfText,
  isUndo,
  pagingOf,
  readEnvelope,
  replaced,
  sampleOf,
  undoOf,
  walkDescribed,
} from '@reseller/contract/engine';

import { returnsCode } from '../../src/one-time-codes/codes.ts';
import type { FakeExchange, FakeResponse } from './defect.ts';
import { examplePaths } from './example-paths.ts';

type Outcome = FakeExchange['outcome'];
type Values = Readonly<Record<string, string>>;

/** The fields and query parameters of a request. */
export interface RequestValues {
  readonly form: FormReading | undefined;
  readonly query: Values;
  /** By name in lower case. */
  readonly headers?: Values;
}

/** The state of a fake service: existing and removed resources, past requests and the current one-time code. */
export interface FakeState {
  outcome(operation: Operation, parameters: Values, requested: RequestValues): Outcome;
  succeed(operation: Operation, parameters: Values, requested: RequestValues): FakeResponse;
  refusal(operation: Operation, outcome: Outcome): FakeResponse;
  /** The response to a request that the document does not describe. */
  refuse(outcome: 'wrong-method' | 'not-found', method: string): FakeExchange;
  presentOtp(code: string): boolean;
}

const JSON_HEADERS = { 'content-type': 'application/json' } as const;
/** The possible statuses of each outcome. The first that the operation describes is used. */
const STATUSES: Readonly<Record<Outcome, readonly string[]>> = {
  success: ['200'],
  unauthorized: ['401', '403'],
  'invalid-form': ['422', '400'],
  'invalid-parameter': ['400', '422'],
  'unknown-id': ['404'],
  removed: ['409', '404'],
  'wrong-method': ['405'],
  'not-found': ['404'],
};
const PAST_REQUESTS = 120;

/** The parts of a fake service that depend only on its document. */
interface DocumentParts {
  readonly validator: Validator;
  /** The name of the property with the UUID of the request. */
  readonly identifier: string | undefined;
  /** The resources in the examples of the document. */
  readonly examples: readonly string[];
}

/** A cache, because the selftest starts many services with one document. */
const known = new WeakMap<OpenApiDocument, DocumentParts>();

function readParts(document: OpenApiDocument, operations: readonly Operation[]): DocumentParts {
  const validator = createValidator(document);
  const { identifier } = readEnvelope(document, operations);
  return { validator, identifier, examples: examplePaths(document, operations, validator).map(keyOf) };
}

/** Creates a state in which all resources in the examples of the document exist. */
export function createFakeState(document: OpenApiDocument, operations: readonly Operation[]): FakeState {
  const parts = known.get(document) ?? readParts(document, operations);
  known.set(document, parts);
  const { validator, identifier } = parts;
  const existing = new Set(parts.examples);
  const removed = new Set<string>();
  const past = new Map<string, unknown[]>();
  let otp: string | undefined;

  function withIdentifier(body: unknown): unknown {
    if (identifier === undefined || typeof Object(body)[identifier] !== 'string') return body;
    return { ...Object(body), [identifier]: randomUUID() };
  }

  function pageOf(operation: Operation, { form, query }: RequestValues, body: unknown): unknown {
    const paging = pagingOf(document, operation);
    const items = paging?.itemsOf(body);
    if (paging === undefined || items === undefined || items.length === 0) return body;
    const all = past.get(operation.id) ?? Array.from({ length: PAST_REQUESTS }, (_, index) => fresh(items[index % items.length]));
    past.set(operation.id, all);
    all.unshift(fresh(items[0]));
    const size = paging.size ?? items.length;
    const requested = paging.in === 'form' ? form?.values[paging.field] : query[paging.field];
    const offset = requested === undefined ? 0 : paging.by === 'offset' ? Number(requested) : size;
    // Without identifiers, the items of the second page would look like repeated ones, so the page is empty.
    const isDistinct = JSON.stringify(all[0]) !== JSON.stringify(all[1]);
    return paging.withItems(body, isDistinct || offset === 0 ? all.slice(offset, offset + size) : []);
  }

  function fresh(item: unknown): unknown {
    return identifier === undefined ? item : withIdentifier(item);
  }

  function isBroken(operation: Operation, parameter: Parameter, { query, headers = {} }: RequestValues): boolean {
    const { name, in: place, pointer, required } = parameter;
    if ((place !== 'query' && place !== 'header') || isCredential(operation, parameter)) return false;
    const text = place === 'query' ? query[name] : headers[name.toLowerCase()];
    if (text === undefined || pointer === undefined) return required && text === undefined;
    return issuesOfText(validator.compile(pointer), text).length > 0;
  }

  function headersFor({ responses }: Operation, status: string): Readonly<Record<string, string>> {
    return Object.fromEntries(
      Object.entries(responses[status]?.headers ?? {}).flatMap(([name, { pointer }]) => {
        const sample = pointer === undefined ? undefined : sampleOf({ document, validator }, pointer);
        return sample === undefined ? [] : [[name, String(sample.value)]];
      }),
    );
  }

  return {
    outcome(operation, parameters, requested) {
      const { form } = requested;
      const path = keyOf(parameters);
      if (operation.path.includes('{') && !existing.has(path)) return 'unknown-id';
      const isGone = operation.method === 'DELETE' && removed.has(path);
      // A removed resource cannot be read.
      const isRead = operation.method === 'GET' && removed.has(`${operation.path} ${path}`);
      const isNothingToUndo =
        operation.path.includes('{') && isUndo(operation, operations) && operation.method !== 'DELETE' && !removed.has(path);
      if (isGone || isNothingToUndo) return 'removed';
      if (isRead) return 'unknown-id';
      if (operation.parameters.some((parameter) => isBroken(operation, parameter, requested))) return 'invalid-parameter';
      if (form === undefined || operation.body === undefined) return 'success';
      return form.issues.length > 0 || validator.compile(operation.body.pointer)(form.values).length > 0 ? 'invalid-form' : 'success';
    },
    succeed(operation, parameters, requested) {
      const path = keyOf(parameters);
      if (operation.method === 'DELETE') {
        removed.add(path);
        removed.add(`${operation.path} ${path}`);
      } else if (isUndo(operation, operations)) removed.delete(path);
      let body = pageOf(operation, requested, withIdentifier(completed(document, operation, exampleOf(operation, path))));
      if (returnsCode(document, operation)) {
        otp = String(randomInt(10_000_000, 99_999_999));
        body = replaced(body, '/data/otp_code', otp);
      }
      const status = Object.keys(operation.responses).find((code) => code.startsWith('2')) ?? '200';
      if (!operation.path.includes('{') && undoOf(operation, operations) !== undefined) removed.delete(path);
      return { status: Number(status), headers: { ...JSON_HEADERS, ...headersFor(operation, status) }, body };
    },
    refusal(operation, outcome) {
      const status = STATUSES[outcome].find((code) => operation.responses[code] !== undefined) ?? STATUSES[outcome][0] ?? '400';
      const [example] = Object.values(responseFor(operation, Number(status))?.content['application/json']?.examples ?? {});
      return { status: Number(status), headers: JSON_HEADERS, body: withIdentifier(example?.value ?? { message: 'refused' }) };
    },
    refuse(outcome, method) {
      const [sample] = operations.flatMap(({ responses }) => Object.values(responses['401']?.content['application/json']?.examples ?? {}));
      const body = withIdentifier(sample?.value ?? { message: 'refused' });
      const given: FakeResponse = { status: outcome === 'wrong-method' ? 405 : 404, headers: JSON_HEADERS, body };
      return {
        document,
        operation: undefined,
        method,
        outcome,
        key: 'account',
        form: undefined,
        query: {},
        response: given,
        success: () => given,
      };
    },
    presentOtp(code) {
      const isValid = code === otp;
      if (isValid) otp = undefined;
      return isValid;
    },
  };
}

/** Adds all described maps to an example, because examples do not contain all of them. */
function completed(document: OpenApiDocument, operation: Operation, body: unknown): unknown {
  const [, response] = Object.entries(operation.responses).find(([code]) => code.startsWith('2')) ?? [];
  const pointer = response?.content['application/json']?.pointer;
  if (pointer === undefined) return body;
  let whole = body;
  walkDescribed(document, { pointer, provenance: 'shown' }, body, ({ pointer: at, value, nodes }) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return true;
    for (const { schema } of nodes) {
      for (const [name, property] of Object.entries(Object(schema['properties']))) {
        const isMap = typeof Object(property).additionalProperties === 'object' && Object(property).properties === undefined;
        if (isMap && !Object.hasOwn(value, name)) whole = replaced(whole, `${at}/${name}`, {});
      }
    }
    return true;
  });
  return whole;
}

/** The success example with the requested identifiers, else the first. */
function exampleOf({ id, responses }: Operation, path: string): unknown {
  const [, response] = Object.entries(responses).find(([code]) => code.startsWith('2')) ?? [];
  const examples = Object.values(response?.content['application/json']?.examples ?? {});
  const values = Object.values(JSON.parse(path));
  const found =
    examples.find(({ value }) => values.length > 0 && values.every((one) => JSON.stringify(value).includes(JSON.stringify(one)))) ??
    examples[0];
  if (found === undefined) throw new Error(`The document has no success example for ${id}.`);
  return structuredClone(found.value);
}

function keyOf(parameters: Values): string {
  return JSON.stringify(Object.fromEntries(Object.entries(parameters).toSorted(([one], [other]) => (one < other ? -1 : 1))));
}
