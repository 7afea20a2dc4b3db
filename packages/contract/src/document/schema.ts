import { referencePointer, DocumentError } from './document.ts';
import type { OpenApiDocument } from './document.ts';
import { isObject, member } from './json.ts';
import type { JsonObject } from './json.ts';
import { patternOf } from './pattern.ts';
import { joinPointer, valueAt } from './pointer.ts';
import { constraintsOf, provenanceOf } from './provenance.ts';
import type { Provenance } from './provenance.ts';

/** A schema object that applies to a value, with its provenance. */
export interface SchemaNode {
  readonly pointer: string;
  readonly schema: JsonObject;
  readonly provenance: Provenance;
  /** The provenance of its rules by `x-constraints`, here or above; undefined without the key. */
  readonly constraints: Provenance | undefined;
}

const IN_PLACE_LISTS = ['allOf', 'anyOf', 'oneOf'] as const;
const IN_PLACE_SINGLES = ['if', 'then', 'else'] as const;

/**
 * All schema objects that apply to the same value as the schema at a pointer: itself, its references, and the branches of
 * allOf, anyOf, oneOf, if/then/else and dependentSchemas. `not` is left out, because it does not describe the value.
 * @param inherited provenance of the place that uses the schema
 * @param outerConstraints provenance of rules at the place that uses the schema
 * @throws {DocumentError} when a reference cannot be followed
 */
export function schemaNodes(
  document: OpenApiDocument,
  pointer: string,
  inherited: Provenance = 'shown',
  outerConstraints?: Provenance,
): readonly SchemaNode[] {
  const nodes = new Map<string, SchemaNode>();
  function addNode(at: string, from: Provenance, outer: Provenance | undefined): void {
    if (nodes.has(at)) return;
    const schema = valueAt(document, at);
    if (typeof schema === 'boolean') return;
    if (!isObject(schema)) throw new DocumentError(`The document has no schema at ${at}.`);
    const provenance = provenanceOf(schema, from);
    const constraints = constraintsOf(schema, outer);
    nodes.set(at, { pointer: at, schema, provenance, constraints });
    const reference = member(schema, '$ref');
    if (reference !== undefined) addNode(referencePointer(reference, at), provenance, constraints);
    for (const keyword of IN_PLACE_LISTS) {
      const branches = member(schema, keyword);
      if (Array.isArray(branches)) branches.forEach((_, index) => addNode(joinPointer(at, keyword, index), provenance, constraints));
    }
    for (const keyword of IN_PLACE_SINGLES)
      if (isObject(member(schema, keyword))) addNode(joinPointer(at, keyword), provenance, constraints);
    for (const name of keysOf(schema, 'dependentSchemas')) addNode(joinPointer(at, 'dependentSchemas', name), provenance, constraints);
  }
  addNode(pointer, inherited, outerConstraints);
  return [...nodes.values()];
}

/** Whether a value occurs only in responses. */
export function isReadOnly(document: OpenApiDocument, pointer: string): boolean {
  return schemaNodes(document, pointer).some(({ schema }) => schema['readOnly'] === true);
}

/** The schema objects that apply to a member or an item of a value; empty when there are none. */
export function childNodes(document: OpenApiDocument, nodes: readonly SchemaNode[], key: string | number): readonly SchemaNode[] {
  const children = new Map<string, SchemaNode>();
  let evaluated = false;
  function add(pointer: string, { provenance, constraints }: SchemaNode): void {
    evaluated = true;
    for (const node of schemaNodes(document, pointer, provenance, constraints))
      if (!children.has(node.pointer)) children.set(node.pointer, node);
  }
  for (const node of nodes) for (const tokens of childKeywords(node.schema, key)) add(joinPointer(node.pointer, ...tokens), node);
  if (evaluated) return [...children.values()];
  const rest = typeof key === 'number' ? 'unevaluatedItems' : 'unevaluatedProperties';
  for (const node of nodes) if (isObject(member(node.schema, rest))) add(joinPointer(node.pointer, rest), node);
  return [...children.values()];
}

/** The pointer tokens from a schema object to the schemas of a member or an item. */
function childKeywords(schema: JsonObject, key: string | number): readonly (readonly (string | number)[])[] {
  if (typeof key === 'number') {
    const prefix = member(schema, 'prefixItems');
    if (Array.isArray(prefix) && key < prefix.length) return [['prefixItems', key]];
    return isObject(member(schema, 'items')) ? [['items']] : [];
  }
  const found: (readonly string[])[] = [];
  if (keysOf(schema, 'properties').includes(key)) found.push(['properties', key]);
  for (const pattern of keysOf(schema, 'patternProperties')) if (patternOf(pattern).test(key)) found.push(['patternProperties', pattern]);
  if (found.length === 0 && isObject(member(schema, 'additionalProperties'))) found.push(['additionalProperties']);
  return found;
}

/** The member names of an object under a keyword, such as `properties`. */
export function keysOf(schema: JsonObject, keyword: string): readonly string[] {
  const value = member(schema, keyword);
  return isObject(value) ? Object.keys(value) : [];
}

/** The JSON types that a schema names for a member of its objects; empty when it names none. */
export function memberTypes(document: OpenApiDocument, pointer: string, name: string): ReadonlySet<string> {
  return typesOf(childNodes(document, schemaNodes(document, pointer), name));
}

/** The JSON types that the schemas of a value name; empty when they name none. */
export function typesOf(nodes: readonly SchemaNode[]): ReadonlySet<string> {
  const types = new Set<string>();
  for (const { schema } of nodes) {
    const type = member(schema, 'type');
    if (typeof type === 'string') types.add(type);
    if (Array.isArray(type)) for (const name of type) if (typeof name === 'string') types.add(name);
  }
  return types;
}
