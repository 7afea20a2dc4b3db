import { jsonOf } from './answer.ts';
import type { OpenApiDocument } from './document.ts';
import type { Operation } from './operation.ts';
import { rootView } from './view.ts';
import type { SchemaNode } from './schema.ts';

/** Every operation. */
export function always(): boolean {
  return true;
}

/** Operations that answer JSON with a schema. */
export function answersJson({ responses }: Operation): boolean {
  return Object.values(responses).some((response) => jsonOf(response)?.pointer !== undefined);
}

/** Operations whose path names something. */
export function hasPathParameter({ parameters }: Operation): boolean {
  return parameters.some((parameter) => parameter.in === 'path');
}

/** Operations that take a form with at least one field. */
export function takesForm({ form }: Operation): boolean {
  return form !== undefined && form.fields.size > 0;
}

/** Operations of which some JSON answer has a schema that says something in particular, at any depth. */
export function describes(says: (node: SchemaNode) => boolean): (operation: Operation, document: OpenApiDocument) => boolean {
  return ({ responses }, document) =>
    Object.values(responses).some((response) => {
      const pointer = jsonOf(response)?.pointer;
      return pointer !== undefined && reaches(document, pointer, says);
    });
}

function reaches(document: OpenApiDocument, pointer: string, says: (node: SchemaNode) => boolean): boolean {
  const seen = new Set<unknown>();
  const look = (view: ReturnType<typeof rootView>): boolean => {
    if (seen.has(view)) return false;
    seen.add(view);
    if (view.nodes.some(says)) return true;
    const names = new Set(view.nodes.flatMap(({ schema }) => Object.keys(Object(schema['properties']))));
    return [...names].some((name) => look(view.member(name).view)) || look(view.member(0).view) || look(view.member('\u0000').view);
  };
  return look(rootView(document, pointer));
}
