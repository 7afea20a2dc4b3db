/** The operations of the document, grouped for tests. */
import { pathParameters } from '@reseller/contract';

import { apiOperations } from '../src/http/reseller/api.ts';
import type { ApiOperation } from '../src/http/reseller/api.ts';
import type { OperationId } from '../src/reseller/operation.ts';

const idsOf = (wanted: (api: ApiOperation) => boolean): readonly OperationId[] => apiOperations.filter(wanted).map(({ id }) => id);

/** Names of the path parameters, as the path has them. */
export function pathParametersOf({ operation }: ApiOperation): readonly string[] {
  return pathParameters(operation.path);
}

/** Those with a path parameter. */
export const withPath = idsOf((api) => pathParametersOf(api).length > 0);
/** Those that read without a path parameter or a required field: lists and single resources. */
export const lists = idsOf((api) => api.operation.readOnly && pathParametersOf(api).length === 0 && !api.operation.body?.required);
/** Those that change something. */
export const writes = idsOf(({ operation }) => !operation.readOnly);
/** Those that take a form. */
export const withForm = idsOf(({ operation }) => operation.form !== undefined);

/** An operation of the service. */
export function apiOf(id: OperationId): ApiOperation {
  const api = apiOperations.find((candidate) => candidate.id === id);
  if (!api) throw new Error(`The document has no operation ${id}.`);
  return api;
}
