import type { Oas3Rule } from '@redocly/openapi-core';

/** A client asks a person before operations with certain effects, so each operation that changes something names its effect. */
export const effectOfWrite: Oas3Rule = () => ({
  Operation(operation, { key, report, location }) {
    const isReading = key === 'get' || Reflect.get(operation, 'x-read-only') === true;
    const effect: unknown = Reflect.get(operation, 'x-effect');
    if (!isReading && effect === undefined) {
      report({
        message:
          'The operation changes something and has no x-effect. Write cost, money, end, redirect, power or none. EXTENSIONS.md explains them.',
        location: location.key(),
      });
    }
    if (isReading && effect !== undefined) {
      report({
        message: 'The operation changes nothing, so it has no effect. Remove x-effect.',
        location: location.child('x-effect').key(),
      });
    }
    const needed =
      Reflect.get(operation, 'x-billable') === true ? 'cost' : Reflect.get(operation, 'x-destructive') === true ? 'end' : effect;
    if (isReading || effect === undefined || effect === needed) return;
    report({
      message: `x-effect must be ${String(needed)}, because of the other marks of the operation.`,
      location: location.child('x-effect'),
    });
  },
});
