/** The operator's document, as its HTTP application asks it. */
import document from '@reseller/openapi/operator.json' with { type: 'json' };
import { createValidator, parseDocument, readOperations, valueAt } from '@reseller/contract';
import type { Check, Operation } from '@reseller/contract';

import type { OperatorId } from '../../operator/operation.ts';
import { operatorTable } from '../../operator/table.ts';

/** A parameter of the path or the query. */
export interface ApiParameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  /** What its text is read as. */
  readonly type: 'string' | 'integer' | 'boolean';
  readonly check: Check;
}

/** An operation with what requests of it need. */
export interface OperatorApi<Id extends OperatorId = OperatorId> {
  readonly id: Id;
  readonly operation: Operation;
  readonly parameters: readonly ApiParameter[];
  /** Judges a body; undefined where the operation takes none. */
  readonly checkBody: Check | undefined;
  /** Status of its good answer. */
  readonly status: number;
  /** Whether a live service refuses it. */
  readonly sandboxOnly: boolean;
  /** Whether a third party's token allows it. */
  readonly forVerifiers: boolean;
}

const api = parseDocument(document);
const validator = createValidator(api);

/** Every operation of the document. */
export const operatorApi: readonly OperatorApi[] = readOperations(api).map(apiOperation);

function apiOperation(operation: Operation): OperatorApi {
  const { id, pointer, parameters, responses } = operation;
  if (!isOperatorId(id))
    throw new Error(`The operator's document has an operation ${id} that the generated route types do not have. Run npx pnpm@12 generate.`);
  const written = valueAt(api, pointer);
  const status = Object.keys(responses).find((code) => code.startsWith('2'));
  if (status === undefined) throw new Error(`The operation ${id} has no good answer in the operator's document.`);
  const content = member(member(member(written, 'requestBody'), 'content'), 'application/json');
  const security = member(written, 'security');
  return {
    id,
    operation,
    parameters: parameters.map(({ name, in: place, pointer: schema, schema: described }) => {
      if (schema === undefined || (place !== 'path' && place !== 'query'))
        throw new Error(`The parameter ${name} of ${id} cannot be read.`);
      return { name, in: place, type: typeOf(described), check: validator.compile(schema) };
    }),
    checkBody: content === undefined ? undefined : validator.compile(`${pointer}/requestBody/content/application~1json/schema`),
    status: Number(status),
    sandboxOnly: member(written, 'x-sandbox-only') === true,
    forVerifiers: Array.isArray(security) && security.some((scheme: unknown) => member(scheme, 'VerifierToken') !== undefined),
  };
}

function isOperatorId(id: string): id is OperatorId {
  return Object.hasOwn(operatorTable, id);
}

function typeOf(schema: unknown): ApiParameter['type'] {
  const type = member(schema, 'type');
  return type === 'integer' || type === 'boolean' ? type : 'string';
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Object.entries(value).find(([key]) => key === name)?.[1] : undefined;
}
