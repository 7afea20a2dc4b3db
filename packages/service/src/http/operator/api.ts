import { createValidator, readOperations, valueAt } from '@reseller/contract';
import type { Operation, ValueCheck } from '@reseller/contract';

import { operatorDocument } from '../../operator/document.ts';
import { isScope } from '../../operator/operation.ts';
import type { OperatorId, Scope } from '../../operator/operation.ts';
import { operatorTable } from '../../operator/table.ts';
import { MAX_ISSUES } from '../shared/mistakes.ts';

/** A parameter of the path or the query. */
export interface ApiParameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  /** The type that its text is converted to. */
  readonly type: 'string' | 'integer' | 'boolean';
  readonly check: ValueCheck;
}

/** An operation of the operator API, with the validators of its requests. */
export interface OperatorApi<Id extends OperatorId = OperatorId> {
  readonly id: Id;
  readonly operation: Operation;
  readonly parameters: readonly ApiParameter[];
  /** Undefined if the operation takes no body. */
  readonly checkBody: ValueCheck | undefined;
  /** Status of its successful response. */
  readonly status: number;
  /** Media type of its successful response. */
  readonly mediaType: string;
  /** Whether a live service refuses the operation. */
  readonly sandboxOnly: boolean;
  /** The scope that an operator token needs. */
  readonly scope: Scope;
  /** Whether its response has the version of the resource. */
  readonly isVersioned: boolean;
  /** The operation that returns the resource whose version the operation takes: that of the path, or of the nearest path above. */
  readonly versionedBy: OperatorId | undefined;
  /** Whether a verifier's token allows the operation. */
  readonly forVerifiers: boolean;
}

const validator = createValidator(operatorDocument, { lazy: true, trusted: true, maxIssues: MAX_ISSUES });

/** Every operation of the operator API. */
export const operatorApi: readonly OperatorApi[] = readOperations(operatorDocument).map(apiOperation);

function apiOperation(operation: Operation): OperatorApi {
  const { id, pointer, parameters, responses } = operation;
  if (!isOperatorId(id))
    throw new Error(
      `The operator's document has an operation ${id} that the generated route types do not have. Run npx -y pnpm@12 generate.`,
    );
  const written = valueAt(operatorDocument, pointer);
  const status = Object.keys(responses).find((code) => code.startsWith('2'));
  if (status === undefined) throw new Error(`The operation ${id} has no successful response in the operator's document.`);
  const content = member(member(member(written, 'requestBody'), 'content'), 'application/json');
  const security = member(written, 'security');
  const scope = member(written, 'x-scope');
  if (!isScope(scope)) throw new Error(`The operation ${id} has no x-scope in the operator's document.`);
  return {
    id,
    operation,
    isVersioned: Object.keys(responses['200']?.headers ?? {}).some((name) => name.toLowerCase() === 'etag'),
    versionedBy: parameters.some(isPrecondition) ? readerAbove(operation.path) : undefined,
    parameters: parameters
      .filter((parameter) => !isPrecondition(parameter))
      .map(({ name, in: place, pointer: schema, schema: described }) => {
        if (schema === undefined || (place !== 'path' && place !== 'query'))
          throw new Error(`The parameter ${name} of ${id} cannot be read.`);
        return { name, in: place, type: parameterTypeOf(described), check: validator.compile(schema) };
      }),
    checkBody: content === undefined ? undefined : validator.compile(`${pointer}/requestBody/content/application~1json/schema`),
    status: Number(status),
    mediaType: Object.keys(responses[status]?.content ?? {})[0] ?? 'application/json',
    sandboxOnly: member(written, 'x-sandbox-only') === true,
    scope,
    forVerifiers: Array.isArray(security) && security.some((scheme: unknown) => member(scheme, 'VerifierToken') !== undefined),
  };
}

/** The headers of RFC 9110, 13.1. */
function isPrecondition({ name, in: place }: Operation['parameters'][number]): boolean {
  return place === 'header' && /^if-(?:none-)?match$/i.test(name);
}

function readerAbove(path: string): OperatorId {
  const readers = readOperations(operatorDocument).filter(
    ({ method, path: read }) => method === 'GET' && `${path}/`.startsWith(`${read}/`),
  );
  const [nearest] = readers.toSorted((one, other) => other.path.length - one.path.length);
  if (nearest === undefined || !isOperatorId(nearest.id)) throw new Error(`No operation returns the resource of ${path}.`);
  return nearest.id;
}

function isOperatorId(id: string): id is OperatorId {
  return Object.hasOwn(operatorTable, id);
}

function parameterTypeOf(schema: unknown): ApiParameter['type'] {
  const type = member(schema, 'type');
  return type === 'integer' || type === 'boolean' ? type : 'string';
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Object.entries(value).find(([key]) => key === name)?.[1] : undefined;
}
