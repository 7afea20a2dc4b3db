import { constraintsIn, provenanceOfConstraint, scopeOf } from '../lint/constraints.ts';
import type { Provenance, Scope } from '../lint/constraints.ts';
import { entriesOf, isFields, isReference, isText } from '../lint/nodes.ts';
import type { Fields } from '../lint/nodes.ts';
import { visitParts } from '../lint/parts.ts';
import type { Kind, Part, Place, Reading } from '../lint/parts.ts';
import { statementsOf } from './statements.ts';

export const FACT_KINDS = ['operation', 'parameter', 'response', 'header', 'schema', 'field', 'value', 'limit', 'statement'] as const;
export type FactKind = (typeof FACT_KINDS)[number];

/** One fact that a document states, at one place. */
export interface Fact {
  readonly kind: FactKind;
  readonly pointer: string;
  readonly text: string;
  /** The strongest one, if several paths lead to the place. */
  readonly provenance: Provenance;
  /** The operations whose description contains the place. */
  readonly operations: ReadonlySet<string>;
}

const FIRMNESS: readonly Provenance[] = ['shown', 'inferred', 'not-shown'];
const SHARED_PART = /^\/components\/[a-zA-Z]+\/[^/]+$/;
const MAX_VALUE_LENGTH = 60;

/**
 * All facts of a bundled document that have a provenance, in the order of its operations.
 *
 * @throws Error if a constraint has no provenance, which lint refuses
 */
export function readFacts(document: Fields): Fact[] {
  const facts = new Map<string, Fact>();
  function add(kind: FactKind, pointer: string, text: string, provenance: Provenance, operation: string): void {
    const key = `${kind} ${pointer} ${text}`;
    const known = facts.get(key);
    facts.set(key, {
      kind,
      pointer,
      text,
      provenance: known === undefined ? provenance : firmer(known.provenance, provenance),
      operations: new Set([...(known?.operations ?? []), operation]),
    });
  }
  const reading: Reading<Pointer> = { root: { node: document, location: placeAt('') }, resolve: (node) => follow(document, node) };
  visitParts(reading, (part) => {
    const { kind, node, location, operation } = part;
    const at = location.absolutePointer;
    if (kind === 'schema') {
      for (const [name, text, provenance] of factsOfSchema(part)) add(name, at, text, provenance, operation);
    } else if (isPartKind(kind) && !SHARED_PART.test(at)) {
      const target = targetOf(reading, part);
      add(kind, at, nameOf(kind, target.node, at), target.scope.provenance, operation);
    }
    if (isText(node['description']))
      for (const { text, provenance } of statementsOf(node['description'])) add('statement', at, text, provenance, operation);
  });
  return [...facts.values()];
}

function factsOfSchema({ node, location, scope }: Part<Pointer>): (readonly [FactKind, string, Provenance])[] {
  const at = location.absolutePointer;
  const found: (readonly [FactKind, string, Provenance])[] = [];
  if (SHARED_PART.test(at)) found.push(['schema', 'the whole schema', scope.provenance]);
  const [, name] = /\/properties\/([^/]+)$/.exec(at) ?? [];
  if (name !== undefined) found.push(['field', name, scope.provenance]);
  if (node['x-seen'] === true && Array.isArray(node['enum']))
    found.push(...node['enum'].map((value) => ['value', String(value), scope.provenance] as const));
  for (const keyword of constraintsIn(node)) {
    const provenance = provenanceOfConstraint(node, keyword, scope);
    if (provenance === undefined) throw new Error(`${keyword} at ${at} has no provenance. Lint the document first.`);
    found.push(['limit', `${keyword}: ${shortened(JSON.stringify(node[keyword]))}`, provenance]);
  }
  return found;
}

function shortened(text: string): string {
  return text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH)}…` : text;
}

function isPartKind(kind: Kind): kind is 'operation' | 'parameter' | 'response' | 'header' {
  return kind === 'operation' || kind === 'parameter' || kind === 'response' || kind === 'header';
}

function nameOf(kind: string, node: Fields, pointer: string): string {
  if (kind === 'operation') return String(node['operationId']);
  return kind === 'parameter' ? String(node['name']) : (pointer.split('/').at(-1) ?? '');
}

/** A part after following its references, and the scope that it has there. */
function targetOf({ resolve }: Reading<Pointer>, { node, location, scope }: Part<Pointer>): { node: Fields; scope: Scope } {
  if (!isReference(node)) return { node, scope };
  const target = resolve(node, location);
  return isFields(target.node) ? { node: target.node, scope: scopeOf(target.node, scope) } : { node, scope };
}

function firmer(one: Provenance, other: Provenance): Provenance {
  return FIRMNESS.indexOf(one) < FIRMNESS.indexOf(other) ? one : other;
}

/** A JSON pointer into a document without references to other files. */
interface Pointer extends Place<Pointer> {
  readonly absolutePointer: string;
}

function placeAt(absolutePointer: string): Pointer {
  return {
    absolutePointer,
    child(keys) {
      const tokens = [keys].flat().map((key) => String(key).replaceAll('~', '~0').replaceAll('/', '~1'));
      return placeAt([absolutePointer, ...tokens].join('/'));
    },
  };
}

function follow(document: Fields, node: Fields): { node: unknown; location: Pointer } {
  const pointer = String(node['$ref']).slice(1);
  const tokens = pointer.split('/').slice(1);
  const target = tokens.reduce<unknown>((at, token) => {
    const key = decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~');
    return entriesOf(at).find(([name]) => name === key)?.[1];
  }, document);
  return { node: target, location: placeAt(pointer) };
}
