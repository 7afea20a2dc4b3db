import type { Oas3Rule } from '@redocly/openapi-core';

const ORIGIN = 'extension';
const OURS = ['inferred', 'not-shown'];

/**
 * The extension is never mistaken for the specification: each of its operations, and each schema that only its operations use, says that the
 * specification does not show it. The operations of the specification come first, so a schema that an earlier operation uses belongs to it.
 */
export const extensionMarks: Oas3Rule = () => {
  let isExtension = false;
  let hasExtension = false;
  const ofSpecification = new Set<string>();
  const judged = new Set<string>();
  return {
    Operation: {
      enter(operation, { report, location }) {
        const origin: unknown = Reflect.get(operation, 'x-origin');
        isExtension = origin === ORIGIN;
        if (origin !== undefined && !isExtension)
          report({ message: `${String(origin)} is not an origin. Write x-origin: ${ORIGIN}.`, location: location.child('x-origin').key() });
        if (!isExtension && hasExtension)
          report({
            message: 'An operation of the specification comes after one of the extension. Put its path before those of the extension.',
            location: location.key(),
          });
        hasExtension ||= isExtension;
        if (isExtension && !OURS.includes(String(Reflect.get(operation, 'x-provenance'))))
          report({
            message: `The specification does not show the operations of the extension. Write x-provenance: ${OURS.join(' or ')}.`,
            location: location.key(),
          });
      },
      leave() {
        isExtension = false;
      },
    },
    ref(node, { report, type }, target) {
      if (type.name !== 'Schema' || !target.location) return;
      const place = String(target.location.absolutePointer);
      if (!isExtension && Reflect.get(node, 'x-origin') !== ORIGIN) return void ofSpecification.add(place);
      if (ofSpecification.has(place) || judged.has(place)) return;
      judged.add(place);
      if (OURS.includes(String(Reflect.get(Object(target.node), 'x-provenance')))) return;
      report({
        message: `The specification does not show the schemas of the extension. Write x-provenance: ${OURS.join(' or ')}.`,
        location: target.location,
      });
    },
  };
};
