import type { Oas3Rule } from '@redocly/openapi-core';

import { folderOfParts } from './layout.ts';
import { isReference } from './nodes.ts';

/** Each path has a separate file, named after the path, so that it can be found by its name. */
export const pathFileName: Oas3Rule = () => ({
  Paths(paths, { report, location }) {
    const folder = folderOfParts(location.source.absoluteRef);
    for (const [path, item] of Object.entries<unknown>(paths)) {
      const expected = `${folder}paths/${path.slice(1).replaceAll('/', '@')}.yaml`;
      if (!isReference(item)) {
        report({
          message: `The path ${path} is written in the root document. Move it to ${expected} and leave a $ref to that file.`,
          location: location.child(path).key(),
        });
      } else if (item.$ref.replace(/^\.\//, '') !== expected) {
        report({
          message: `The path ${path} is in ${item.$ref}. Name its file after it, with "@" for "/": ${expected}.`,
          location: location.child([path, '$ref']),
        });
      }
    }
  },
});
