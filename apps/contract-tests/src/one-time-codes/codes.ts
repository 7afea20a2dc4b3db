import { keysOf, responseFor } from '@reseller/contract';
import type { OpenApiDocument, Operation } from '@reseller/contract';
import { jsonOf, rootView, walkDescribed } from '@reseller/contract/engine';
import type { View } from '@reseller/contract/engine';

const CODE_NAME = /otp|one.?time|totp/i;
const MAX_DEPTH = 3;

/** Whether an operation returns a one-time code: a secret property whose name says so. */
export function returnsCode(document: OpenApiDocument, operation: Operation): boolean {
  const pointer = successSchema(operation);
  return pointer !== undefined && !operation.readOnly && hasCode(rootView(document, pointer), 0);
}

/** The one-time code in the body of a response. */
export function codeIn(document: OpenApiDocument, operation: Operation, body: unknown): string | undefined {
  const pointer = successSchema(operation);
  if (pointer === undefined) return undefined;
  let code: string | undefined;
  walkDescribed(document, { pointer, provenance: 'shown' }, body, ({ name, nodes, value }) => {
    if (typeof value === 'string' && CODE_NAME.test(name) && nodes.some(({ schema }) => schema['x-secret'] === true)) code ??= value;
    return true;
  });
  return code;
}

function successSchema(operation: Operation): string | undefined {
  const status = Object.keys(operation.responses).find((code) => code.startsWith('2'));
  const response = status === undefined ? undefined : responseFor(operation, Number(status));
  return response === undefined ? undefined : jsonOf(response)?.pointer;
}

function hasCode(view: View, depth: number): boolean {
  if (depth > MAX_DEPTH) return false;
  return view.nodes
    .flatMap(({ schema }) => keysOf(schema, 'properties'))
    .some((name) => {
      const { view: below } = view.member(name);
      return (CODE_NAME.test(name) && below.nodes.some(({ schema }) => schema['x-secret'] === true)) || hasCode(below, depth + 1);
    });
}
