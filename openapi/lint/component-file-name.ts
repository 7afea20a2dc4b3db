import { relative, sep } from 'node:path';

import type { Oas3Rule } from '@redocly/openapi-core';

import { folderOfParts, isExtension } from './layout.ts';
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
 * A component can be found by its name. The bundle names it after its file, and its file is in the folder of its kind, among the parts of its
 * document.
 *
 * @param folder - the folder of redocly.yaml
 */
export function componentFileName(folder: string): Oas3Rule {
  return () => {
    const judged = new Set<string>();
    let parts = '';
    let isExtending = false;
    return {
      Root(_root, { location }) {
        parts = folderOfParts(location.source.absoluteRef);
        isExtending = isExtension(location.source.absoluteRef);
      },
      ref(node, { report, location, type }, target) {
        // Only bundles have references inside a file, and path items have their own rule.
        if (node.$ref.startsWith('#') || type.name === 'PathItem' || !target.location) return;
        const kind = PLACES.get(type.name);
        if (kind === undefined) {
          report({
            message: `A part of kind ${type.name} is in a separate file. Write it here; separate files are for ${[...PLACES.keys()].join(', ')}.`,
            location: location.child('$ref'),
          });
          return;
        }
        const place = `${parts}${kind}`;
        if (node.$ref.includes('#')) {
          report({
            message: `${node.$ref} points into a file. Move the part to a separate file in ${place} and refer to that file.`,
            location: location.child('$ref'),
          });
          return;
        }
        const file = relative(folder, target.location.source.absoluteRef).split(sep).join('/');
        if (judged.has(`${type.name} ${file}`)) return;
        judged.add(`${type.name} ${file}`);
        const folders = isExtending ? [place, kind] : [place];
        if (!folders.some((one) => new RegExp(`^${one.replace('<area>', AREA)}/${NAME}\\.yaml$`).test(file))) {
          report({
            message: `${file} is used as a ${type.name}. Name the file like a type and put it into the folder of its kind: ${place}/PascalCase.yaml.`,
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
                message: `The component ${name} is in ${component.$ref}. Give the component and its file the same name.`,
                location: location.child([kind, name, '$ref']),
              });
            }
          }
        }
      },
    };
  };
}
