import { relative, sep } from 'node:path';

import type { Oas3Rule } from '@redocly/openapi-core';

import { isExtension } from './layout.ts';

const OURS = ['inferred', 'not-shown'];

/**
 * The extension is never mistaken for the specification: each of its operations and schemas says that the specification does not show it,
 * and each operation that it belongs to the extension.
 */
export const extensionMarks: Oas3Rule = () => {
  let isExtending = false;
  const judged = new Set<string>();
  return {
    Root(_root, { location }) {
      isExtending = isExtension(location.source.absoluteRef);
    },
    Operation(operation, { report, location }) {
      const origin: unknown = Reflect.get(operation, 'x-origin');
      if (!isExtending && origin !== undefined) {
        report({
          message: 'x-origin marks operations of the extension, and this document is not extension.yaml. Remove it.',
          location: location.child('x-origin').key(),
        });
      }
      if (!isExtending) return;
      if (origin === undefined) {
        report({ message: 'The operation has no x-origin. Write x-origin: extension.', location: location.key() });
      }
      if (!OURS.includes(String(Reflect.get(operation, 'x-provenance')))) {
        report({
          message: `The specification does not show the operations of the extension. Write x-provenance: ${OURS.join(' or ')}.`,
          location: location.key(),
        });
      }
    },
    ref(_node, { report, type }, target) {
      if (!isExtending || type.name !== 'Schema' || !target.location || !isPartOfExtension(target.location.source.absoluteRef)) return;
      const file = target.location.source.absoluteRef;
      if (judged.has(file)) return;
      judged.add(file);
      if (OURS.includes(String(Reflect.get(Object(target.node), 'x-provenance')))) return;
      report({
        message: `The specification does not show the schemas of the extension. Write x-provenance: ${OURS.join(' or ')}.`,
        location: target.location,
      });
    },
  };
};

/** The extension also refers to components of openapi.yaml, some of which the specification shows. */
function isPartOfExtension(file: string): boolean {
  return relative('.', file).split(sep).includes('extension');
}
