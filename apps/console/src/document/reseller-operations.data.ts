/** The operations of the reseller API, and where its client has them. */
import { EXTENSION_PLACES, PLACES } from '@reseller/client/places';
import type { Places } from '@reseller/client/places';
import { parseDocument, readOperations } from '@reseller/contract';
import serviceDocument from '@reseller/openapi/service.json' with { type: 'json' };

export const resellerOperations = readOperations(parseDocument(serviceDocument)).map(({ id, method, path }) => {
  const specified = placeOf(id, PLACES);
  return { id, method, path, place: specified ?? placeOf(id, EXTENSION_PLACES) ?? id, isExtension: specified === undefined };
});

/** Such as `vm.create`. */
function placeOf(id: string, places: Places): string | undefined {
  for (const [name, found] of Object.entries(places)) {
    if (found === id) return name;
    const inner = typeof found === 'string' ? undefined : placeOf(id, found);
    if (inner !== undefined) return `${name}.${inner}`;
  }
  return undefined;
}
