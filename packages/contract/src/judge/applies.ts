import type { OpenApiDocument } from '../document/document.ts';
import type { Operation } from '../document/operation.ts';
import { isCredential } from '../document/parameters.ts';
import type { SchemaNode } from '../document/schema.ts';
import { rootView, visitViews } from '../document/view.ts';
import type { View } from '../document/view.ts';
import { jsonOf } from '../exchange/exchange.ts';

export function always(): boolean {
  return true;
}

/** Whether an operation has a JSON response with a schema. */
export function returnsJson({ responses }: Operation): boolean {
  return Object.values(responses).some((response) => jsonOf(response)?.pointer !== undefined);
}

/** Whether an operation has a path parameter. */
export function hasPathParameter({ parameters }: Operation): boolean {
  return parameters.some((parameter) => parameter.in === 'path');
}

/** Whether an operation has a parameter other than the credential. */
export function takesParameters(operation: Operation): boolean {
  return operation.parameters.some((parameter) => !isCredential(operation, parameter));
}

/** Whether an operation has a body with at least one field. */
export function takesBody({ body }: Operation): boolean {
  return body !== undefined && body.fields.size > 0;
}

/** Whether a JSON response of an operation has a schema node, at any depth, that matches the predicate. */
export function describes(says: (node: SchemaNode) => boolean): (operation: Operation, document: OpenApiDocument) => boolean {
  // Operations share schemas, so each schema is looked at once.
  const without = new WeakSet<View>();
  function reaches(root: View): boolean {
    const seen: View[] = [];
    const isFound = visitViews(root, (view) => {
      if (without.has(view)) return false;
      seen.push(view);
      return view.nodes.some(says);
    });
    if (!isFound) for (const view of seen) without.add(view);
    return isFound;
  }
  return ({ responses }, document) =>
    Object.values(responses).some((response) => {
      const pointer = jsonOf(response)?.pointer;
      return pointer !== undefined && reaches(rootView(document, pointer));
    });
}
