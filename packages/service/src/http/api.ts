/** The document, as the HTTP application asks it. */
import document from '@reseller/openapi/openapi.json' with { type: 'json' };
import { createValidator, maskSecrets, parseDocument, readOperations } from '@reseller/contract';
import type { Check, Operation } from '@reseller/contract';

import { operations as table } from '../reseller/table.ts';
import type { OperationId } from '../reseller/operation.ts';

/** An operation with what requests and answers of it need. */
export interface ApiOperation<Id extends OperationId = OperationId> {
  readonly id: Id;
  readonly operation: Operation;
  /** Judges a form; undefined where the operation takes none. */
  readonly checkForm: Check | undefined;
  /** Judges an Idempotency-Key; undefined where the operation takes none. */
  readonly checkIdempotencyKey: Check | undefined;
  /** Whether the envelope's `requestID` is null for this operation. */
  readonly withoutRequestId: boolean;
  /** The form with its secrets masked, for the log. */
  maskForm(form: unknown): unknown;
  /** A good answer with its secrets masked, for the log; the same object where it has none. */
  maskAnswer(envelope: unknown): unknown;
}

const PROBE = '00000000-0000-4000-8000-000000000000';
const api = parseDocument(document);
const validator = createValidator(api);

/** Every operation of the document, with the name of the header that carries the API key. */
export const apiOperations: readonly ApiOperation[] = readOperations(api).map(apiOperation);
export const apiKeyHeader: string = headerOf(apiOperations);

function apiOperation(operation: Operation): ApiOperation {
  const { id, form } = operation;
  if (!isOperationId(id))
    throw new Error(`The document has an operation ${id} that the generated route types do not have. Run npx pnpm@12 generate.`);
  const answer = operation.responses['200']?.content['application/json']?.pointer;
  if (answer === undefined) throw new Error(`The operation ${id} has no JSON answer in the document.`);
  const key = operation.parameters.find(({ name }) => name === 'Idempotency-Key')?.pointer;
  return {
    id,
    operation,
    checkForm: form && validator.compile(form.pointer),
    checkIdempotencyKey: key === undefined ? undefined : validator.compile(key),
    withoutRequestId: takesNullRequestId(validator.compile(answer)),
    maskForm: (values) => (form ? maskSecrets(api, form.pointer, values) : values),
    maskAnswer: (envelope) => maskSecrets(api, answer, envelope),
  };
}

function isOperationId(id: string): id is OperationId {
  return Object.hasOwn(table, id);
}

/** Which operations answer a null requestID is the document's say: their envelope allows it. */
function takesNullRequestId(check: Check): boolean {
  const complaints = (requestID: string | null) =>
    check({ status: 'success', requestID, message: '', data: null }).filter(({ path }) => path === '/requestID');
  if (complaints(PROBE).length > 0) throw new Error('An envelope of the document refuses a UUID as requestID.');
  return complaints(null).length === 0;
}

function headerOf(operations: readonly ApiOperation[]): string {
  const headers = new Set(operations.map(({ operation }) => operation.security?.name));
  const [header] = headers;
  if (headers.size !== 1 || header === undefined) throw new Error('Every operation of the document must need the same API key header.');
  return header;
}
