import type { OpenApiDocument } from '../document.ts';
import { joinPointer } from '../pointer.ts';
import { keysOf, typesOf, type SchemaNode } from '../schema.ts';
import { rootView, type View } from '../view.ts';
import type { Impact, Tell } from './change.ts';

/** Who sends what the schema describes: the client or the service. */
export type Direction = 'request' | 'response';

export interface SchemaPair {
  readonly before: OpenApiDocument;
  readonly after: OpenApiDocument;
  readonly direction: Direction;
  readonly tell: Tell;
}

/** What a part is called in sentences: "data.list.*.identifier". */
interface Place {
  readonly name: string;
  readonly seen: ReadonlySet<string>;
}

/** Compares what two schemas take, seen from the one who has to live with it. */
export function diffSchemas(pair: SchemaPair, before: string, after: string): void {
  compare(pair, rootView(pair.before, before), rootView(pair.after, after), { name: '', seen: new Set() });
}

function compare(pair: SchemaPair, before: View, after: View, place: Place): void {
  const key = `${pointerOf(before)} ${pointerOf(after)}`;
  if (place.seen.has(key)) return;
  const inside = { ...place, seen: new Set([...place.seen, key]) };
  const at = ownerOf(after);
  compareTypes(pair, { before, after, place, at });
  compareValues(pair, { before, after, place, at });
  compareLimits(pair, { before, after, place, at });
  compareTexts(pair, { before, after, place, at });
  compareProperties(pair, { before, after, place: inside, at });
  for (const [token, has] of [
    [0, hasItems],
    ['\u0000', hasKeys],
  ] as const) {
    if (has(before) && has(after))
      compare(pair, before.member(token).view, after.member(token).view, { ...inside, name: `${place.name}.*` });
  }
}

interface Two {
  readonly before: View;
  readonly after: View;
  readonly place: Place;
  readonly at: string;
}

function compareProperties(pair: SchemaPair, { before, after, place, at }: Two): void {
  const { tell, direction } = pair;
  const [were, are] = [namesOf(before), namesOf(after)];
  const [needed, needs] = [requiredOf(before), requiredOf(after)];
  for (const name of new Set([...were, ...are])) {
    const label = place.name === '' ? name : `${place.name}.${name}`;
    const property = joinPointer(at, 'properties', name);
    if (!are.has(name)) {
      const isHarmless = direction === 'request' && !isClosed(after);
      tell({
        impact: isHarmless ? 'safe' : 'breaking',
        at,
        what: `${label} is gone`,
        client:
          direction === 'request'
            ? 'Code that sends it does not compile after the next generation; the service refuses or ignores it.'
            : 'Code that reads it gets undefined, and does not compile after the next generation.',
      });
      continue;
    }
    if (!were.has(name)) {
      const isNeeded = direction === 'request' && needs.has(name);
      tell({
        impact: isNeeded ? 'breaking' : 'safe',
        at: property,
        what: `${label} is new${isNeeded ? ' and required' : ''}`,
        client: isNeeded ? 'Calls that do not send it are refused.' : 'A further property, which you may use.',
      });
      continue;
    }
    if (needed.has(name) !== needs.has(name)) {
      const isBreaking = direction === 'request' ? needs.has(name) : needed.has(name);
      const what = `${label} is ${needs.has(name) ? 'required now' : 'optional now'}`;
      tell({
        impact: isBreaking ? 'breaking' : 'safe',
        at: property,
        what,
        client: isBreaking
          ? direction === 'request'
            ? 'Calls that do not send it are refused.'
            : 'It can be undefined: the type makes you handle that.'
          : 'Nothing to do.',
      });
    }
    compare(pair, before.member(name).view, after.member(name).view, { ...place, name: label });
  }
  if (direction === 'request' && isClosed(after) !== isClosed(before))
    tell({
      impact: isClosed(after) ? 'breaking' : 'safe',
      at,
      what: `${subject(place)} ${isClosed(after) ? 'takes no further fields now' : 'takes further fields now'}`,
      client: isClosed(after) ? 'A misspelt or extra field is refused.' : 'Nothing to do.',
    });
}

function compareTypes({ tell, direction }: SchemaPair, { before, after, place, at }: Two): void {
  const [were, are] = [wide(typesOf(before.nodes)), wide(typesOf(after.nodes))];
  if (were.size === 0 && are.size === 0) return;
  const added = are.size === 0 || were.size === 0 ? [] : [...are].filter((type) => !were.has(type));
  const gone = are.size === 0 || were.size === 0 ? [] : [...were].filter((type) => !are.has(type));
  if (added.length > 0) {
    const impact: Impact = direction === 'response' ? 'breaking' : 'safe';
    tell({
      impact,
      at,
      what: `${subject(place)} can be ${added.join(' or ')} now`,
      client:
        impact === 'breaking' ? `Handle ${added.join(' and ')}: code written for ${[...were].join(' or ')} fails on it.` : 'Nothing to do.',
    });
  }
  if (gone.length > 0) {
    const impact: Impact = direction === 'request' ? 'breaking' : 'safe';
    tell({
      impact,
      at,
      what: `${subject(place)} can no longer be ${gone.join(' or ')}`,
      client: impact === 'breaking' ? `Do not send ${gone.join(' or ')}.` : 'A case less to handle.',
    });
  }
}

function compareValues({ tell, direction }: SchemaPair, { before, after, place, at }: Two): void {
  const [were, are] = [valuesOf(before), valuesOf(after)];
  if (were === undefined || are === undefined) {
    if (were === are) return;
    const isClosing = are !== undefined;
    const impact: Impact = isClosing === (direction === 'request') ? 'breaking' : 'safe';
    tell({
      impact,
      at,
      what: `${subject(place)} ${isClosing ? `is limited to ${[...are.values].join(', ')} now` : 'can have any value now'}`,
      client: impact === 'breaking' ? 'A value outside the earlier ones is possible, or one that you send is refused.' : 'Nothing to do.',
    });
    return;
  }
  const added = [...are.values].filter((value) => !were.values.has(value));
  const gone = [...were.values].filter((value) => !are.values.has(value));
  const isOpen = were.isOpen && are.isOpen;
  if (added.length > 0)
    tell({
      impact: direction === 'response' && !isOpen ? 'breaking' : 'safe',
      at,
      what: `${subject(place)} can be ${added.join(', ')} now`,
      client: isOpen ? 'One more known value of an open enumeration.' : 'A switch over the values needs a branch for it.',
    });
  if (gone.length > 0)
    tell({
      impact: direction === 'request' && !isOpen ? 'breaking' : 'safe',
      at,
      what: `${subject(place)} no longer lists ${gone.join(', ')}`,
      client: direction === 'request' && !isOpen ? 'The service refuses it.' : 'It is not expected any more.',
    });
}

/** Keywords, and whether a greater number allows less. */
const LIMITS = [
  ['minimum', true],
  ['exclusiveMinimum', true],
  ['minLength', true],
  ['minItems', true],
  ['maximum', false],
  ['exclusiveMaximum', false],
  ['maxLength', false],
  ['maxItems', false],
] as const;

function compareLimits({ tell, direction }: SchemaPair, { before, after, place, at }: Two): void {
  const judge = (isTighter: boolean, what: string): void => {
    const isBreaking = direction === 'request' ? isTighter : !isTighter;
    tell({
      impact: isBreaking ? 'breaking' : 'safe',
      at,
      what,
      client: isBreaking
        ? isTighter
          ? 'What you send today may be refused.'
          : 'Values outside the earlier limits may come.'
        : 'Nothing to do.',
    });
  };
  for (const [keyword, growsTighter] of LIMITS) {
    const [was, is] = [keywordOf(before, keyword), keywordOf(after, keyword)];
    if (was === is) continue;
    const isTighter = typeof is === 'number' && (typeof was !== 'number' || (growsTighter ? is > was : is < was));
    judge(isTighter, `${keyword} of ${subject(place)} is ${shown(is)} instead of ${shown(was)}`);
  }
  for (const keyword of ['pattern', 'format'] as const) {
    const [was, is] = [keywordOf(before, keyword), keywordOf(after, keyword)];
    if (was === is) continue;
    // Another pattern or format can be narrower or wider: taken for what hurts.
    if (was !== undefined && is !== undefined)
      tell({
        impact: 'breaking',
        at,
        what: `${keyword} of ${subject(place)} is ${shown(is)} instead of ${shown(was)}`,
        client: 'What you send or read may no longer fit.',
      });
    else
      judge(is !== undefined, `${subject(place)} ${is === undefined ? `has no ${keyword} any more` : `has the ${keyword} ${shown(is)}`}`);
  }
}

function compareTexts({ tell }: SchemaPair, { before, after, place, at }: Two): void {
  for (const keyword of [
    'description',
    'title',
    'examples',
    'default',
    'deprecated',
    'x-provenance',
    'x-constraints',
    'x-secret',
  ] as const) {
    const [was, is] = [keywordOf(before, keyword), keywordOf(after, keyword)];
    if (JSON.stringify(was) !== JSON.stringify(is))
      tell({
        impact: 'documentation',
        at,
        what: `${keyword} of ${subject(place)} changed`,
        client: keyword === 'x-secret' ? 'It is masked in logs, or no longer.' : 'Nothing changes at run time.',
      });
  }
}

function subject({ name }: Place): string {
  return name === '' ? 'the body' : name.replace(/^\./, '');
}

function shown(value: unknown): string {
  return value === undefined ? 'none' : String(value);
}

function keywordOf({ nodes }: View, keyword: string): unknown {
  return nodes.map(({ schema }) => schema[keyword]).find((value) => value !== undefined);
}

/** Every integer is a number. */
function wide(types: ReadonlySet<string>): ReadonlySet<string> {
  return types.has('number') ? new Set([...types].filter((type) => type !== 'integer')) : types;
}

function namesOf({ nodes }: View): ReadonlySet<string> {
  return new Set(nodes.flatMap(({ schema }) => keysOf(schema, 'properties')));
}

function requiredOf({ nodes }: View): ReadonlySet<unknown> {
  return new Set(nodes.flatMap(({ schema }) => (Array.isArray(schema['required']) ? schema['required'] : [])));
}

function isClosed({ nodes }: View): boolean {
  return nodes.some(({ schema }) => schema['additionalProperties'] === false || schema['unevaluatedProperties'] === false);
}

function hasItems({ nodes }: View): boolean {
  return nodes.some(({ schema }) => typeof schema['items'] === 'object');
}

function hasKeys({ nodes }: View): boolean {
  return nodes.some(({ schema }) => typeof schema['additionalProperties'] === 'object');
}

function valuesOf({ nodes }: View): { readonly values: ReadonlySet<string>; readonly isOpen: boolean } | undefined {
  const lists = nodes.filter(({ schema }) => Array.isArray(schema['enum']) || schema['const'] !== undefined);
  if (lists.length === 0) return undefined;
  const values = lists.flatMap(({ schema }) => (Array.isArray(schema['enum']) ? schema['enum'] : [schema['const']]));
  return {
    values: new Set(values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))),
    isOpen: lists.some(({ schema }) => schema['x-seen'] === true),
  };
}

/** The component that says most of it: where a person would look for the change. */
function ownerOf({ nodes }: View): string {
  const owner = nodes.findLast(({ schema }) => keysOf(schema, 'properties').length > 0) ?? nodes.findLast(isNoReference) ?? nodes[0];
  return owner?.pointer ?? '';
}

function isNoReference({ schema }: SchemaNode): boolean {
  return schema['$ref'] === undefined;
}

function pointerOf({ nodes }: View): string {
  return nodes.map(({ pointer }) => pointer).join(' ');
}
