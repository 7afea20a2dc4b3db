import { createValidator, maskSecrets, readOperations } from '@reseller/contract';
import type { Operation, Validator, ValueCheck } from '@reseller/contract';

import { createReplyCodec } from '../../reseller/codec.ts';
import type { ReplyCodec } from '../../reseller/codec.ts';
import { documentedOperations, loadSpecification, resellerDocument } from '../../reseller/document.ts';
import { withoutCredentials } from '../../reseller/masking.ts';
import type { OperationId } from '../../reseller/operation.ts';
import { operations as table } from '../../reseller/table.ts';
import { MAX_ISSUES } from '../shared/mistakes.ts';

/** An operation of the reseller API, with the validators and the codec of its requests and responses. */
export interface ApiOperation<Id extends OperationId = OperationId> {
  readonly id: Id;
  readonly operation: Operation;
  /** Undefined if the operation takes no form. */
  readonly checkForm: ValueCheck | undefined;
  /** Undefined if the operation takes no Idempotency-Key. */
  readonly checkIdempotencyKey: ValueCheck | undefined;
  readonly codec: ReplyCodec;
  /** Writes responses without passwords and auth codes, for keys that may not read them. */
  readonly maskingCodec: ReplyCodec;
  /** Masks the fields of a form that the document marks as secret. */
  maskForm(form: unknown): unknown;
}

const validator = createValidator(resellerDocument, { lazy: true, trusted: true, maxIssues: MAX_ISSUES });

/** Every operation of the reseller API, those of the extension included. */
export const apiOperations: readonly ApiOperation[] = documentedOperations.map((operation) => toApiOperation(operation, validator));

/** The operations of a service without the extension. Their forms do not have the fields that the extension adds. */
export async function specifiedOperations(): Promise<readonly ApiOperation[]> {
  const specification = await loadSpecification();
  const specified = createValidator(specification, { lazy: true, trusted: true, maxIssues: MAX_ISSUES });
  return readOperations(specification).map((operation) => toApiOperation(operation, specified));
}

/**
 * Compiles the check of a purchase, which also prepares the compiler. The checks of the other operations are compiled when they are first
 * used. Otherwise the first form would delay all requests by about 0.1 s.
 */
export function prepareChecks(operations: readonly ApiOperation[]): void {
  operations.find(({ id }) => id === 'createVm')?.checkForm?.({});
}

function toApiOperation(operation: Operation, { compile }: Validator): ApiOperation {
  const { id, form } = operation;
  if (!isOperationId(id))
    throw new Error(`The document has an operation ${id} that the generated route types do not have. Run npx -y pnpm@12 generate.`);
  const key = operation.parameters.find(({ name }) => name === 'Idempotency-Key')?.pointer;
  return {
    id,
    operation,
    checkForm: form && compile(form.pointer),
    checkIdempotencyKey: key === undefined ? undefined : compile(key),
    codec: createReplyCodec(operation),
    maskingCodec: createReplyCodec(operation, withoutCredentials),
    maskForm: (values) => (form ? maskSecrets(resellerDocument, form.pointer, values) : values),
  };
}

function isOperationId(id: string): id is OperationId {
  return Object.hasOwn(table, id);
}
