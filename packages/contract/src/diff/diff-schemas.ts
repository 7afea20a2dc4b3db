import type { OpenApiDocument } from '../document/document.ts';
import { isObject } from '../document/json.ts';
import { joinPointer } from '../document/pointer.ts';
import { NOTHING_CHANGES, NOTHING_TO_DO } from './change.ts';
import type { Impact, ReportChange } from './change.ts';
import {
  branchesOf,
  canonical,
  isClosed,
  isText,
  keyOf,
  keywordOf,
  keywordsOf,
  ownerOf,
  propertyNames,
  propertyShape,
  requiredNames,
  shapeAt,
  shapeBelow,
  typesOf,
} from './shape.ts';
import type { Shape } from './shape.ts';

/** Whether the client or the service sends the value. */
export type Direction = 'request' | 'response';

export interface SchemaPair {
  readonly before: OpenApiDocument;
  readonly after: OpenApiDocument;
  readonly direction: Direction;
  readonly report: ReportChange;
}

/** The name of a part for messages, such as "data.list.*.identifier", and the pairs of shapes above it. */
interface Place {
  readonly name: string;
  readonly seen: ReadonlySet<string>;
}

interface Comparison {
  readonly before: Shape;
  readonly after: Shape;
  readonly place: Place;
  readonly at: string;
}

/** Compares the values that two schemas allow, from the point of view of users. */
export function diffSchemas(pair: SchemaPair, before: string, after: string): void {
  compare(pair, shapeAt(pair.before, before), shapeAt(pair.after, after), { name: '', seen: new Set() });
}

function compare(pair: SchemaPair, before: Shape, after: Shape, place: Place): void {
  const key = `${keyOf(before)} ${keyOf(after)}`;
  if (place.seen.has(key)) return;
  const inside: Place = { ...place, seen: new Set([...place.seen, key]) };
  const comparison: Comparison = { before, after, place: inside, at: ownerOf(after) };
  if (before.allowsAny !== after.allowsAny)
    judge(pair, comparison, !after.allowsAny, `${subject(place)} ${after.allowsAny ? 'is allowed now' : 'is no longer allowed'}`);
  compareTypes(pair, comparison);
  compareValues(pair, comparison);
  compareLimits(pair, comparison);
  compareAccess(pair, comparison);
  compareTexts(pair, comparison);
  compareProperties(pair, comparison);
  compareOthers(pair, comparison);
  for (const [keyword, name] of [
    ['items', '.*'],
    ['additionalProperties', '.*'],
  ] as const)
    compareBelow(pair, comparison, keyword, `${place.name}${name}`);
  for (const keyword of ['anyOf', 'oneOf'] as const) compareBranches(pair, comparison, keyword);
}

/** Reports a changed limit. A tighter limit breaks requests; a looser one breaks readers of responses. */
function judge({ report, direction }: SchemaPair, { at }: Comparison, isTighter: boolean, what: string): void {
  const isBreaking = direction === 'request' ? isTighter : !isTighter;
  report({
    impact: isBreaking ? 'breaking' : 'safe',
    at,
    what,
    client: isBreaking
      ? isTighter
        ? 'The service may refuse requests that were valid before.'
        : 'Responses can have values outside the earlier limits.'
      : NOTHING_TO_DO,
  });
}

function uncompared({ report }: SchemaPair, { at, place }: Comparison, keyword: string): void {
  report({
    impact: 'uncompared',
    at,
    what: `${keyword} of ${subject(place)} changed, but this program cannot compare it`,
    client: 'Read the change: it may allow less, or more, than before.',
  });
}

function compareProperties(pair: SchemaPair, comparison: Comparison): void {
  const { report, direction } = pair;
  const { before, after, place, at } = comparison;
  const [were, are] = [propertyNames(before), propertyNames(after)];
  const [needed, needs] = [requiredNames(before), requiredNames(after)];
  for (const name of new Set([...were, ...are, ...needed, ...needs])) {
    const label = place.name === '' ? name : `${place.name}.${name}`;
    const property = joinPointer(at, 'properties', name);
    if (were.has(name) && !are.has(name)) {
      const isHarmless = direction === 'request' && !isClosed(after);
      report({
        impact: isHarmless ? 'safe' : 'breaking',
        at: joinPointer(ownerOf(before), 'properties', name),
        isRemoved: true,
        what: `${label} is gone`,
        client:
          direction === 'request'
            ? 'Code that sends it does not compile after the next generation; the service refuses or ignores it.'
            : 'Code that reads it gets undefined, and does not compile after the next generation.',
      });
      continue;
    }
    if (!were.has(name) && are.has(name)) {
      const isNeeded = direction === 'request' && needs.has(name) && !needed.has(name);
      report({
        impact: isNeeded ? 'breaking' : 'safe',
        at: property,
        what: `${label} is new${isNeeded ? ' and required' : ''}`,
        client: isNeeded ? 'Calls that do not send it are refused.' : 'A new property, which you may use.',
      });
      continue;
    }
    if (needed.has(name) !== needs.has(name))
      compareRequired(pair, { isNeeded: needs.has(name), label, at: are.has(name) ? property : at });
    if (were.has(name)) compare(pair, propertyShape(before, name), propertyShape(after, name), { ...place, name: label });
  }
  if (isClosed(after) !== isClosed(before))
    judge(
      pair,
      comparison,
      isClosed(after),
      `${subject(place)} ${isClosed(after) ? 'allows no further properties now' : 'allows further properties now'}`,
    );
}

function compareRequired(
  { report, direction }: SchemaPair,
  { isNeeded, label, at }: { readonly isNeeded: boolean; readonly label: string; readonly at: string },
): void {
  const isBreaking = (direction === 'request') === isNeeded;
  const client =
    direction === 'request' ? 'Calls that do not send it are refused.' : 'It can be undefined: the type makes you handle that.';
  report({
    impact: isBreaking ? 'breaking' : 'safe',
    at,
    what: `${label} is ${isNeeded ? 'required' : 'optional'} now`,
    client: isBreaking ? client : NOTHING_TO_DO,
  });
}

function compareTypes(pair: SchemaPair, comparison: Comparison): void {
  const { report, direction } = pair;
  const { before, after, place, at } = comparison;
  const [were, are] = [typesOf(before), typesOf(after)];
  if (were.size === 0 || are.size === 0) {
    if (were.size !== are.size)
      judge(
        pair,
        comparison,
        are.size > 0,
        `${subject(place)} ${are.size > 0 ? `must be ${[...are].join(' or ')} now` : 'can be of any type now'}`,
      );
    return;
  }
  function covers(types: ReadonlySet<string>, type: string): boolean {
    return types.has(type) || (type === 'integer' && types.has('number'));
  }
  const added = [...are].filter((type) => !covers(were, type));
  const gone = [...were].filter((type) => !covers(are, type));
  const isNarrowed = gone.includes('number') && are.has('integer');
  if (added.length > 0) {
    const impact: Impact = direction === 'response' ? 'breaking' : 'safe';
    const client = `Handle ${added.join(' and ')}: code written for ${[...were].join(' or ')} fails on it.`;
    report({
      impact,
      at,
      what: `${subject(place)} can be ${added.join(' or ')} now`,
      client: impact === 'breaking' ? client : NOTHING_TO_DO,
    });
  }
  if (gone.length > 0) {
    const impact: Impact = direction === 'request' ? 'breaking' : 'safe';
    const what = isNarrowed ? `${subject(place)} must be an integer now` : `${subject(place)} can no longer be ${gone.join(' or ')}`;
    report({
      impact,
      at,
      what,
      client: impact === 'breaking' ? `Do not send ${gone.join(' or ')}.` : 'You have one case fewer to handle.',
    });
  }
}

interface Values {
  readonly values: ReadonlySet<string>;
  /** Whether other values are allowed besides the listed ones. */
  readonly isOpen: boolean;
}

function compareValues(pair: SchemaPair, comparison: Comparison): void {
  const { report, direction } = pair;
  const { before, after, place, at } = comparison;
  const [were, are] = [valuesOf(before), valuesOf(after)];
  if (were === undefined || are === undefined) {
    if (were === are) return;
    const listed = are ?? were;
    if (listed?.isOpen === true) return;
    const what = are === undefined ? 'can have any value now' : `is limited to ${[...are.values].join(', ')} now`;
    return judge(pair, comparison, are !== undefined, `${subject(place)} ${what}`);
  }
  if (were.isOpen !== are.isOpen)
    judge(
      pair,
      comparison,
      !are.isOpen,
      `${subject(place)} ${are.isOpen ? 'can have other values than the listed ones now' : 'can have only the listed values now'}`,
    );
  const added = [...are.values].filter((value) => !were.values.has(value));
  const gone = [...were.values].filter((value) => !are.values.has(value));
  const isOpen = were.isOpen && are.isOpen;
  if (added.length > 0)
    report({
      impact: direction === 'response' && !isOpen ? 'breaking' : 'safe',
      at,
      what: `${subject(place)} can be ${added.join(', ')} now`,
      client: isOpen ? 'One more known value of an open enumeration.' : 'A switch over the values needs a branch for it.',
    });
  if (gone.length > 0)
    report({
      impact: direction === 'request' && !isOpen ? 'breaking' : 'safe',
      at,
      what: `${subject(place)} no longer lists ${gone.join(', ')}`,
      client: direction === 'request' && !isOpen ? 'The service refuses it.' : 'It is no longer expected.',
    });
}

/** The values that a schema lists: in `enum` and `const`, or in the `x-seen` branch of an open enumeration. */
function valuesOf(shape: Shape): Values | undefined {
  const seen = openEnumeration(shape);
  const lists = keywordsOf(seen ?? shape, 'enum').filter((list) => Array.isArray(list));
  const constants = keywordsOf(seen ?? shape, 'const');
  const all = [...lists, ...constants.map((value) => [value])];
  const [first, ...others] = all.map((list) => list.map((value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))));
  if (first === undefined) return undefined;
  return { values: new Set(first.filter((value) => others.every((other) => other.includes(value)))), isOpen: seen !== undefined };
}

/** The branch with the list in `anyOf: [listed values, any string]`. */
function openEnumeration(shape: Shape): Shape | undefined {
  return branchesOf(shape, 'anyOf').find((branch) => keywordOf(branch, 'x-seen') === true);
}

/** Numeric keywords, and whether a greater number is a tighter limit. */
const LIMITS: readonly (readonly [keyword: string, growsTighter: boolean])[] = [
  ['minimum', true],
  ['exclusiveMinimum', true],
  ['minLength', true],
  ['minItems', true],
  ['minProperties', true],
  ['maximum', false],
  ['exclusiveMaximum', false],
  ['maxLength', false],
  ['maxItems', false],
  ['maxProperties', false],
];

function compareLimits(pair: SchemaPair, comparison: Comparison): void {
  const { report } = pair;
  const { before, after, place, at } = comparison;
  for (const [keyword, growsTighter] of LIMITS) {
    const [was, is] = [limitOf(before, keyword, growsTighter), limitOf(after, keyword, growsTighter)];
    if (was === is) continue;
    const isTighter = is !== undefined && (was === undefined || (growsTighter ? is > was : is < was));
    judge(pair, comparison, isTighter, `${keyword} of ${subject(place)} is ${toText(is)} instead of ${toText(was)}`);
  }
  for (const keyword of ['pattern', 'format', 'multipleOf', 'contentEncoding', 'contentMediaType'] as const) {
    const [was, is] = [keywordOf(before, keyword), keywordOf(after, keyword)];
    if (was === is) continue;
    // A new pattern or format may be narrower or wider, so it counts as breaking.
    if (was !== undefined && is !== undefined)
      report({
        impact: 'breaking',
        at,
        what: `${keyword} of ${subject(place)} is ${toText(is)} instead of ${toText(was)}`,
        client: 'The values that you send or read may no longer fit.',
      });
    else
      judge(
        pair,
        comparison,
        is !== undefined,
        `${subject(place)} ${is === undefined ? `no longer has the ${keyword} ${toText(was)}` : `has the ${keyword} ${toText(is)} now`}`,
      );
  }
  const [wasUnique, isUnique] = [keywordOf(before, 'uniqueItems') === true, keywordOf(after, 'uniqueItems') === true];
  if (wasUnique !== isUnique)
    judge(pair, comparison, isUnique, `${subject(place)} ${isUnique ? 'must not repeat items now' : 'can repeat items now'}`);
}

/** The tightest of several limits. */
function limitOf(shape: Shape, keyword: string, growsTighter: boolean): number | undefined {
  const limits = keywordsOf(shape, keyword).filter((limit) => typeof limit === 'number');
  return limits.length === 0 ? undefined : growsTighter ? Math.max(...limits) : Math.min(...limits);
}

/** Compares `readOnly` in requests and `writeOnly` in responses. */
function compareAccess(pair: SchemaPair, comparison: Comparison): void {
  const { before, after, place } = comparison;
  const keyword = pair.direction === 'request' ? 'readOnly' : 'writeOnly';
  const [was, is] = [keywordOf(before, keyword) === true, keywordOf(after, keyword) === true];
  if (was === is) return;
  pair.report({
    impact: is ? 'breaking' : 'safe',
    at: comparison.at,
    what: `${subject(place)} ${is ? `is ${keyword} now` : `is no longer ${keyword}`}`,
    client: !is ? NOTHING_TO_DO : pair.direction === 'request' ? 'Stop sending it.' : 'Responses do not have it.',
  });
}

function compareTexts({ report, direction }: SchemaPair, { before, after, place, at }: Comparison): void {
  const [was, is] = [keywordOf(before, 'default'), keywordOf(after, 'default')];
  if (JSON.stringify(was) !== JSON.stringify(is))
    report({
      impact: direction === 'request' ? 'breaking' : 'documentation',
      at,
      what: `default of ${subject(place)} is ${toText(is)} instead of ${toText(was)}`,
      client: direction === 'request' ? 'Calls without it now get another default.' : NOTHING_CHANGES,
    });
  const keywords = new Set([...before.parts, ...after.parts].flatMap(({ schema }) => Object.keys(schema)).filter(isText));
  for (const keyword of keywords) {
    if (JSON.stringify(keywordsOf(before, keyword)) === JSON.stringify(keywordsOf(after, keyword))) continue;
    if (keyword === '$defs' || keyword === 'definitions') continue;
    report({
      impact: 'documentation',
      at,
      what: `${keyword} of ${subject(place)} changed`,
      client: keyword === 'x-secret' ? 'Logs start or stop masking it.' : NOTHING_CHANGES,
    });
  }
}

/** Keywords that the functions above compare. */
const COMPARED: ReadonlySet<string> = new Set([
  '$ref',
  'allOf',
  'anyOf',
  'oneOf',
  'type',
  'enum',
  'const',
  'default',
  'required',
  'properties',
  'items',
  'additionalProperties',
  'unevaluatedProperties',
  'pattern',
  'format',
  'multipleOf',
  'contentEncoding',
  'contentMediaType',
  'uniqueItems',
  'readOnly',
  'writeOnly',
  ...LIMITS.map(([keyword]) => keyword),
]);

/** Reports changes of all other keywords as not compared. */
function compareOthers(pair: SchemaPair, comparison: Comparison): void {
  const { before, after } = comparison;
  const keywords = new Set([...before.parts, ...after.parts].flatMap(({ schema }) => Object.keys(schema)));
  for (const keyword of keywords) {
    if (COMPARED.has(keyword) || isText(keyword)) continue;
    function text({ document }: Shape, values: readonly unknown[]): string {
      return canonical(document, values);
    }
    if (text(before, keywordsOf(before, keyword)) !== text(after, keywordsOf(after, keyword))) uncompared(pair, comparison, keyword);
  }
}

function compareBelow(pair: SchemaPair, comparison: Comparison, keyword: 'items' | 'additionalProperties', name: string): void {
  const { before, after, place } = comparison;
  const [was, is] = [shapeBelow(before, keyword), shapeBelow(after, keyword)];
  // compareProperties compares whether further properties are allowed.
  function isDescribed(shape: Shape | undefined): shape is Shape {
    return shape !== undefined && shape.allowsAny && shape.parts.length > 0;
  }
  if (isDescribed(was) && isDescribed(is)) return compare(pair, was, is, { ...place, name });
  if (isDescribed(was) === isDescribed(is)) return;
  if (keyword === 'additionalProperties' && isClosed(before) !== isClosed(after)) return;
  judge(
    pair,
    comparison,
    isDescribed(is),
    `${keyword} of ${subject(place)} ${isDescribed(is) ? 'are described now' : 'are no longer described'}`,
  );
}

/** Ignores alternatives that are the same in both documents, and compares the others in their order. */
function compareBranches(pair: SchemaPair, comparison: Comparison, keyword: 'anyOf' | 'oneOf'): void {
  const { before, after, place } = comparison;
  const [were, are] = [alternatives(before, keyword), alternatives(after, keyword)];
  function text(shape: Shape): string {
    return canonical(shape.document, shape.parts[0]?.schema);
  }
  const [old, now] = [were.map(text), are.map(text)];
  const changed = were.filter((_, index) => !now.includes(old[index] ?? ''));
  const other = are.filter((_, index) => !old.includes(now[index] ?? ''));
  if (were.length === 0 || are.length === 0) {
    if (were.length !== are.length)
      judge(
        pair,
        comparison,
        are.length > 0,
        `${subject(place)} ${are.length > 0 ? `has alternatives (${keyword}) now` : `no longer has alternatives (${keyword})`}`,
      );
    return;
  }
  for (const [index, branch] of changed.entries()) {
    const counterpart = other[index];
    if (counterpart !== undefined) compare(pair, branch, counterpart, place);
    else judge(pair, comparison, true, `${subject(place)} no longer has the alternative ${nameOf(branch)}`);
  }
  for (const branch of other.slice(changed.length)) judge(pair, comparison, false, `${subject(place)} can be ${nameOf(branch)} now`);
}

function alternatives(shape: Shape, keyword: 'anyOf' | 'oneOf'): readonly Shape[] {
  return keyword === 'anyOf' && openEnumeration(shape) !== undefined ? [] : branchesOf(shape, keyword);
}

function nameOf(branch: Shape): string {
  const [first] = branch.parts;
  const reference = first?.schema['$ref'];
  if (typeof reference === 'string') return reference.split('/').at(-1) ?? reference;
  const title = keywordOf(branch, 'title');
  const types = [...typesOf(branch)].join(' or ');
  return typeof title === 'string' ? title : types === '' ? 'another schema' : types;
}

function subject({ name }: Place): string {
  return name === '' ? 'the body' : name.replace(/^\./, '');
}

function toText(value: unknown): string {
  return value === undefined ? 'none' : isObject(value) || Array.isArray(value) ? JSON.stringify(value) : String(value);
}
