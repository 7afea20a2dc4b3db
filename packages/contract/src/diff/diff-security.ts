import { resolve } from '../document/document.ts';
import type { OpenApiDocument } from '../document/document.ts';
import { isObject, member } from '../document/json.ts';
import type { Operation } from '../document/operation.ts';
import { joinPointer, valueAt } from '../document/pointer.ts';
import type { Documents } from './change.ts';
import { canonical } from './shape.ts';

/** One way to authenticate: schemes that are all required, described by what they add to a request, with their scopes. */
type Alternative = ReadonlyMap<string, readonly string[]>;

/** Compares the security requirements. A credential that is no longer sufficient breaks its users. */
export function diffSecurity({ before, after, report }: Documents, was: Operation, is: Operation): void {
  const [old, now] = [alternativesOf(before, was), alternativesOf(after, is)];
  const lost = old.filter((given) => !now.some((needed) => isEnough(given, needed)));
  const won = now.filter((given) => !old.some((needed) => isEnough(given, needed)));
  // A change of the requirement of all operations is one change.
  const at = member(resolve(after, is.pointer).value, 'security') === undefined ? '/security' : is.pointer;
  const needed = now.map(describeAlternative).join(', or ');
  for (const alternative of lost) {
    const what = `${describeAlternative(alternative)} is no longer sufficient; the operation now requires ${needed}`;
    report('breaking', at, what, 'The service refuses requests of existing clients with 401 or 403.');
  }
  if (lost.length > 0) return;
  for (const alternative of won)
    report('safe', at, `${describeAlternative(alternative)} is sufficient now`, 'Another way to authenticate, which you may use.');
}

function isEnough(given: Alternative, needed: Alternative): boolean {
  return [...needed].every(([scheme, scopes]) => scopes.every((scope) => given.get(scheme)?.includes(scope) === true) && given.has(scheme));
}

/** Without a requirement, or with an empty one, no credential is required. */
function alternativesOf(document: OpenApiDocument, { pointer }: Operation): readonly Alternative[] {
  const own = member(resolve(document, pointer).value, 'security');
  const written = Array.isArray(own) ? own : (document.security ?? []);
  const requirements = written.filter(isObject);
  if (requirements.length === 0) return [new Map()];
  return requirements.map(
    (requirement) =>
      new Map(
        Object.entries(requirement).map(([name, scopes]) => [schemeText(document, name), Array.isArray(scopes) ? scopes.map(String) : []]),
      ),
  );
}

/** Describes what a scheme adds to a request, regardless of its name in the document. */
function schemeText(document: OpenApiDocument, name: string): string {
  const pointer = joinPointer('/components/securitySchemes', name);
  if (valueAt(document, pointer) === undefined) return `the scheme ${name}, which is not described`;
  const { value } = resolve(document, pointer);
  switch (value['type']) {
    case 'apiKey':
      return `the API key in the ${String(value['in'])} ${String(value['name'])}`;
    case 'http':
      return `${String(value['scheme']).toLowerCase()} authentication`;
    default:
      return `${String(value['type'])} ${canonical(value)}`;
  }
}

function describeAlternative(alternative: Alternative): string {
  if (alternative.size === 0) return 'no credential';
  return [...alternative].map(([scheme, scopes]) => (scopes.length === 0 ? scheme : `${scheme} with ${scopes.join(', ')}`)).join(' and ');
}
