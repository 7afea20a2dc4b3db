import type { Oas3Rule } from '@redocly/openapi-core';

/** A token with this scope changes nothing. */
const READ = 'read';
/** A browser with any token may sign in and out. */
const OWN_SESSION = /^(?:create|end)Session$/;

/** The scope of an operation that changes something is never the one for reading. */
export const writeScope: Oas3Rule = () => ({
  Operation(operation, { key, report, location }) {
    const isReading = key === 'get' || Reflect.get(operation, 'x-read-only') === true;
    if (isReading || Reflect.get(operation, 'x-scope') !== READ || OWN_SESSION.test(operation.operationId ?? '')) return;
    report({
      message: `x-scope is ${READ}, but a ${String(key).toUpperCase()} changes something. Name the scope that the change needs.`,
      location: location.child('x-scope'),
    });
  },
});
