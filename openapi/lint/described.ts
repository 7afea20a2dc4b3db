import type { Oas3Rule, UserContext } from '@redocly/openapi-core';

import { isFields, isReference, isText } from './nodes.ts';

function needDescription(what: string) {
  return (node: object, { report, location }: UserContext): void => {
    if (isText(Reflect.get(node, 'description'))) return;
    report({ message: `The ${what} has no description. Describe it in a full sentence.`, location: location.key() });
  };
}

/** Docs and generated types show descriptions, so each property, header and body has one, in place or at the target of its reference. */
export const described: Oas3Rule = () => ({
  Header: needDescription('header'),
  RequestBody: needDescription('request body'),
  SchemaProperties(properties, { report, location, resolve }) {
    for (const [name, property] of Object.entries<unknown>(properties)) {
      if (isFields(property) && isText(property['description'])) continue;
      if (isReference(property)) {
        const { node } = resolve<Record<string, unknown>>(property);
        // The rule no-unresolved-refs reports broken references.
        if (node === undefined || isText(node['description'])) continue;
        report({
          message: `The property ${name} has no description, because ${property.$ref} has none. Describe it there in a full sentence.`,
          location: location.child(name).key(),
        });
      } else {
        report({
          message: `The property ${name} has no description. Describe it in a full sentence, with its unit and its limits.`,
          location: location.child(name).key(),
        });
      }
    }
  },
});
