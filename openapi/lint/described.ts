import type { Oas3Rule, UserContext } from '@redocly/openapi-core';

import { isFields, isReference, isText } from './nodes.ts';

function needDescription(what: string) {
  return (node: object, { report, location }: UserContext): void => {
    if (isText(Reflect.get(node, 'description'))) return;
    report({ message: `The ${what} has no description. Say in a full sentence what it is.`, location: location.key() });
  };
}

/** Docs and generated types say what a part is: each property, header and body has a description, its own or that of what it refers to. */
export const described: Oas3Rule = () => ({
  Header: needDescription('header'),
  RequestBody: needDescription('request body'),
  SchemaProperties(properties, { report, location, resolve }) {
    for (const [name, property] of Object.entries<unknown>(properties)) {
      if (isFields(property) && isText(property['description'])) continue;
      if (isReference(property)) {
        const { node } = resolve<Record<string, unknown>>(property);
        // What cannot be resolved is reported by no-unresolved-refs.
        if (node === undefined || isText(node['description'])) continue;
        report({
          message: `The property ${name} has no description, since ${property.$ref} has none. Describe it there: say in a full sentence what it is.`,
          location: location.child(name).key(),
        });
      } else {
        report({
          message: `The property ${name} has no description. Say in a full sentence what it is, its unit and its limits.`,
          location: location.child(name).key(),
        });
      }
    }
  },
});
