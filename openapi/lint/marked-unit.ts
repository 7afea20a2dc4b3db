import type { Oas3Rule } from '@redocly/openapi-core';

import { isFields, isReference, isText } from './nodes.ts';

/** Units that programs use. */
const UNIT = /\bin (basis points|bytes|cents|MB|milliseconds|seconds)\b/;

/** A client lets a person write a value in another unit than a program, so x-unit names the unit of a request, as its description does. */
export const markedUnit: Oas3Rule = () => ({
  RequestBody: {
    SchemaProperties(properties, { report, location, resolve }) {
      for (const [name, property] of Object.entries<unknown>(properties)) {
        if (!isFields(property)) continue;
        const described =
          isReference(property) && !isText(property['description']) ? resolve<Record<string, unknown>>(property).node : property;
        const [, said] = UNIT.exec(String(described?.['description'])) ?? [];
        const marked = property['x-unit'] ?? described?.['x-unit'];
        if (said === marked) continue;
        report({
          message:
            marked === undefined
              ? `The value is in ${said}. Add x-unit: ${said}, so that clients let a person write it in another unit.`
              : `x-unit is ${String(marked)}, but the description says ${said === undefined ? 'no unit' : `"in ${said}"`}. Write "in ${String(marked)}".`,
          location: location.child(name).key(),
        });
      }
    },
  },
});
