import { relative, sep } from 'node:path';

import type { Oas3Rule } from '@redocly/openapi-core';

import { folderOfParts } from './layout.ts';
import { entriesOf, isReference } from './nodes.ts';

/** Where a file of each kind belongs, by the name that Redocly gives the kind. */
const PLACES = new Map([
  ['Schema', 'components/schemas/<area>'],
  ['Example', 'components/examples/<area>'],
  ['Parameter', 'components/parameters'],
  ['Response', 'components/responses'],
  ['Header', 'components/headers'],
  ['SecurityScheme', 'components/securitySchemes'],
]);
const AREA = '[a-z][a-z-]*';
const NAME = '[A-Z][A-Za-z0-9]*';

/**
 * A component is found by its name: the bundle names it after its file, and its file lies in the folder of its kind, among the parts of its
 * document.
 *
 * @param folder - the folder of redocly.yaml
 */
export const componentFileName =
  (folder: string): Oas3Rule =>
  () => {
    const judged = new Set<string>();
    let parts = '';
    return {
      Root(_root, { location }) {
        parts = folderOfParts(location.source.absoluteRef);
      },
      ref(node, { report, location, type }, target) {
        // References inside a file are those of a bundle, and a path item has its own rule.
        if (node.$ref.startsWith('#') || type.name === 'PathItem' || !target.location) return;
        const kind = PLACES.get(type.name);
        if (kind === undefined) {
          report({
            message: `A file of its own stands in the place of a part of kind ${type.name}. Write it here; files are for ${[...PLACES.keys()].join(', ')}.`,
            location: location.child('$ref'),
          });
          return;
        }
        const place = `${parts}${kind}`;
        if (node.$ref.includes('#')) {
          report({
            message: `${node.$ref} points into a file. Give the part a file of its own in ${place} and refer to that.`,
            location: location.child('$ref'),
          });
          return;
        }
        const file = relative(folder, target.location.source.absoluteRef).split(sep).join('/');
        if (judged.has(`${type.name} ${file}`)) return;
        judged.add(`${type.name} ${file}`);
        if (!new RegExp(`^${place.replace('<area>', AREA)}/${NAME}\\.yaml$`).test(file)) {
          report({
            message: `${file} is used as ${type.name}. Such a file is named like a type and kept in the folder of its kind: ${place}/PascalCase.yaml.`,
            location: location.child('$ref'),
          });
        }
      },
      Components(components, { report, location }) {
        for (const [kind, named] of entriesOf(components)) {
          for (const [name, component] of entriesOf(named)) {
            if (!isReference(component)) {
              report({
                message: `The component ${name} is written in the root document. Move it to ${parts}components/${kind}/…/${name}.yaml.`,
                location: location.child([kind, name]).key(),
              });
            } else if (!component.$ref.endsWith(`/${name}.yaml`)) {
              report({
                message: `The component ${name} is kept in ${component.$ref}. The name of a component and of its file are the same.`,
                location: location.child([kind, name, '$ref']),
              });
            }
          }
        }
      },
    };
  };
