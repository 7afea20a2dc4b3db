import { readDiscriminator } from '../document/discriminator.ts';
import type { Discriminator } from '../document/discriminator.ts';
import { joinPointer } from '../document/pointer.ts';
import { NOTHING_CHANGES, NOTHING_TO_DO, RECOMPILE } from './change.ts';
import type { Documents } from './change.ts';
import {
  ALTERNATIVES,
  branchesOf,
  isClosed,
  isEquivalent,
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
  typesOfShape,
  unwrapped,
} from './shape.ts';
import type { DocumentValue, Shape } from './shape.ts';

/** Whether the client or the service sends the value. */
export type Direction = 'request' | 'response';

interface SchemaPair extends Documents {
  readonly direction: Direction;
}

/** Two shapes to compare. The name is that of the part for messages, such as "data.list.*.identifier". */
interface ComparedPart {
  readonly before: Shape;
  readonly after: Shape;
  readonly name: string;
}

/** A pair of schemas, and the parts of it that are still to be compared. */
interface SchemaComparison extends SchemaPair {
  /** Compares a part later, unless the same shapes were compared before: schemas that refer to one another have endless parts. */
  readonly comparePartLater: (part: ComparedPart) => void;
}

interface Comparison {
  readonly before: Shape;
  readonly after: Shape;
  readonly name: string;
  readonly at: string;
  /** The name of the value in messages. */
  readonly subject: string;
}

/** Compares the values that two schemas allow, from the point of view of users. The parts nearest to the root come first. */
export function diffSchemas(pair: SchemaPair, before: string, after: string): void {
  const parts = new Map<string, ComparedPart>();
  function comparePartLater(part: ComparedPart): void {
    const key = `${keyOf(part.before)} ${keyOf(part.after)}`;
    if (!parts.has(key)) parts.set(key, part);
  }
  comparePartLater({ before: shapeAt(pair.before, before), after: shapeAt(pair.after, after), name: '' });
  for (const part of parts.values()) comparePart({ ...pair, comparePartLater }, part);
}

function comparePart(pair: SchemaComparison, part: ComparedPart): void {
  const { name } = part;
  // Alternatives on both sides are compared with one another, also where one of them is null.
  const hasBoth = ALTERNATIVES.some((keyword) => [part.before, part.after].every((shape) => branchesOf(shape, keyword).length > 0));
  const [before, after] = hasBoth ? [part.before, part.after] : [unwrapped(part.before), unwrapped(part.after)];
  const subject = name === '' ? 'the body' : name.replace(/^\./, '');
  const comparison: Comparison = { before, after, name, at: ownerOf(after), subject };
  if (before.allowsAny && !after.allowsAny) judge(pair, comparison, true, `${subject} is no longer allowed`);
  if (!before.allowsAny && after.allowsAny) judge(pair, comparison, false, `${subject} is allowed now`);
  compareTypes(pair, comparison);
  compareValues(pair, comparison);
  compareLimits(pair, comparison);
  compareTexts(pair, comparison);
  compareProperties(pair, comparison);
  compareDiscriminator(pair, comparison);
  compareOthers(pair, comparison);
  for (const keyword of ['items', 'additionalProperties'] as const) compareBelow(pair, comparison, keyword);
  for (const keyword of ALTERNATIVES) compareBranches(pair, comparison, keyword);
}

/** Reports a changed limit. A tighter limit breaks requests; a looser one breaks readers of responses. */
function judge({ report, direction }: SchemaPair, { at }: Comparison, isTighter: boolean, what: string): void {
  if (isTighter !== (direction === 'request')) report('safe', at, what, NOTHING_TO_DO);
  else if (isTighter) report('breaking', at, what, 'The service may refuse requests that were valid before.');
  else report('breaking', at, what, 'Responses can have values outside the earlier limits.');
}

/** The keyword with which a property is not part of the values of a direction. */
const ABSENT: Readonly<Record<Direction, string>> = { request: 'readOnly', response: 'writeOnly' };

/** A property in one of the two documents. It is absent where a request must not have it or a response never does. */
interface PropertySide {
  readonly isPresent: boolean;
  readonly isNeeded: boolean;
}

function sideOf({ direction }: SchemaPair, shape: Shape, name: string): PropertySide {
  const isPresent = propertyNames(shape).has(name) && keywordOf(propertyShape(shape, name), ABSENT[direction]) !== true;
  return { isPresent, isNeeded: requiredNames(shape).has(name) && (isPresent || !propertyNames(shape).has(name)) };
}

function compareProperties(pair: SchemaComparison, comparison: Comparison): void {
  const { before, after, at, subject } = comparison;
  const names = [before, after].flatMap((shape) => [...propertyNames(shape), ...requiredNames(shape)]);
  for (const name of new Set(names)) {
    const label = comparison.name === '' ? name : `${comparison.name}.${name}`;
    const [was, is] = [sideOf(pair, before, name), sideOf(pair, after, name)];
    const property = is.isPresent ? joinPointer(at, 'properties', name) : at;
    if (was.isPresent && !is.isPresent) reportGone(pair, comparison, { name, label, wasNeeded: was.isNeeded });
    else if (!was.isPresent && is.isPresent) reportNew(pair, comparison, { name, label, isNeeded: is.isNeeded && !was.isNeeded });
    else if (!was.isPresent && !is.isPresent && propertyNames(before).has(name) !== propertyNames(after).has(name))
      reportHidden(pair, comparison, { name, label });
    else if (was.isNeeded !== is.isNeeded) compareRequired(pair, { isNeeded: is.isNeeded, label, at: property });
    if (!was.isPresent || !is.isPresent) continue;
    const part = { before: propertyShape(before, name), after: propertyShape(after, name), name: label };
    compareAccess(pair, { ...part, label, at: property });
    pair.comparePartLater(part);
  }
  if (isClosed(after) && !isClosed(before)) judge(pair, comparison, true, `${subject} allows no further properties now`);
  if (!isClosed(after) && isClosed(before)) judge(pair, comparison, false, `${subject} allows further properties now`);
}

/** The keyword that tells how the other direction uses a property changes nothing here, but a reader wants to know it. */
function compareAccess(
  { report, direction }: SchemaPair,
  { before, after, label, at }: { readonly before: Shape; readonly after: Shape; readonly label: string; readonly at: string },
): void {
  const keyword = ABSENT[direction === 'request' ? 'response' : 'request'];
  const [was, is] = [keywordOf(before, keyword) === true, keywordOf(after, keyword) === true];
  if (was !== is) report('documentation', at, `${label} is ${is ? keyword : `no longer ${keyword}`}${is ? ' now' : ''}`, NOTHING_CHANGES);
}

/** Neither requests nor responses change with a property that they do not have, but a reader wants to know it. */
function reportHidden({ report, direction }: SchemaPair, { before, after }: Comparison, { name, label }: ChangedProperty): void {
  const isNew = propertyNames(after).has(name);
  const pointer = joinPointer(ownerOf(isNew ? after : before), 'properties', name);
  const what = isNew ? `${label} is new and ${ABSENT[direction]}` : `${label}, which was ${ABSENT[direction]}, is gone`;
  report('documentation', isNew ? pointer : { removed: pointer }, what, NOTHING_CHANGES);
}

interface ChangedProperty {
  readonly name: string;
  readonly label: string;
}

/** A service that does not refuse other properties ignores one that is gone. A response could lack one that it did not require. */
function reportGone(
  { report, direction }: SchemaPair,
  { before, after }: Comparison,
  { name, label, wasNeeded }: ChangedProperty & { readonly wasNeeded: boolean },
): void {
  const isHidden = propertyNames(after).has(name);
  const what = isHidden ? `${label} is ${ABSENT[direction]} now` : `${label} is gone`;
  const at = isHidden ? joinPointer(ownerOf(after), 'properties', name) : { removed: joinPointer(ownerOf(before), 'properties', name) };
  if (direction === 'response') {
    const client = 'Code that reads it gets undefined, and does not compile after the next generation.';
    report(wasNeeded ? 'breaking' : 'client-breaking', at, what, client);
  } else if (isClosed(after) && !isHidden)
    report('breaking', at, what, 'The service refuses it, and code that sends it does not compile after the next generation.');
  else report('client-breaking', at, what, `The service ignores it; code that sends it ${RECOMPILE}`);
}

function reportNew(
  { report, direction }: SchemaPair,
  { at, before }: Comparison,
  { name, label, isNeeded }: ChangedProperty & { readonly isNeeded: boolean },
): void {
  const property = joinPointer(at, 'properties', name);
  const isHidden = propertyNames(before).has(name);
  if (direction === 'request' && isNeeded) report('breaking', property, `${label} is new and required`, REFUSED);
  else if (isHidden) report('safe', property, `${label} is no longer ${ABSENT[direction]}`, NOTHING_TO_DO);
  else report('safe', property, `${label} is new`, 'A new property, which you may use.');
}

const REFUSED = 'Calls that do not send it are refused.';

function compareRequired(
  { report, direction }: SchemaPair,
  { isNeeded, label, at }: { readonly isNeeded: boolean; readonly label: string; readonly at: string },
): void {
  const what = `${label} is ${isNeeded ? 'required' : 'optional'} now`;
  if ((direction === 'request') !== isNeeded) report('safe', at, what, NOTHING_TO_DO);
  else report('breaking', at, what, isNeeded ? REFUSED : 'It can be undefined: the type makes you handle that.');
}

function compareTypes(pair: SchemaPair, comparison: Comparison): void {
  const { report, direction } = pair;
  const { before, after, at, subject } = comparison;
  const [were, are] = [typesOfShape(before), typesOfShape(after)];
  if (were.size === 0 && are.size > 0) return judge(pair, comparison, true, `${subject} must be ${[...are].join(' or ')} now`);
  if (are.size === 0) return were.size === 0 ? undefined : judge(pair, comparison, false, `${subject} can be of any type now`);
  function covers(types: ReadonlySet<string>, type: string): boolean {
    return types.has(type) || (type === 'integer' && types.has('number'));
  }
  const added = [...are].filter((type) => !covers(were, type));
  const gone = [...were].filter((type) => !covers(are, type));
  if (added.length > 0) {
    const client = `Handle ${added.join(' and ')}: code written for ${[...were].join(' or ')} fails on it.`;
    const what = `${subject} can be ${added.join(' or ')} now`;
    if (direction === 'response') report('breaking', at, what, client);
    else report('safe', at, what, NOTHING_TO_DO);
  }
  if (gone.length > 0) {
    const isNarrowed = gone.includes('number') && are.has('integer');
    const what = isNarrowed ? `${subject} must be an integer now` : `${subject} can no longer be ${gone.join(' or ')}`;
    if (direction === 'request') report('breaking', at, what, `Do not send ${gone.join(' or ')}.`);
    else report('safe', at, what, 'You have one case fewer to handle.');
  }
}

interface ListedValues {
  readonly values: ReadonlySet<string>;
  /** Whether other values are allowed besides the listed ones. */
  readonly isOpen: boolean;
}

function compareValues(pair: SchemaPair, comparison: Comparison): void {
  const { report, direction } = pair;
  const { before, after, at, subject } = comparison;
  const [were, are] = [listedValues(before), listedValues(after)];
  if (were === undefined || are === undefined) {
    if (were === are || (are ?? were)?.isOpen === true) return;
    const what = are === undefined ? 'can have any value now' : `is limited to ${[...are.values].join(', ')} now`;
    return judge(pair, comparison, are !== undefined, `${subject} ${what}`);
  }
  if (!were.isOpen && are.isOpen) judge(pair, comparison, false, `${subject} can have other values than the listed ones now`);
  if (were.isOpen && !are.isOpen) judge(pair, comparison, true, `${subject} can have only the listed values now`);
  const added = [...are.values].filter((value) => !were.values.has(value)).join(', ');
  const gone = [...were.values].filter((value) => !are.values.has(value)).join(', ');
  const isOpen = were.isOpen && are.isOpen;
  const [isSent, isReceived] = [direction === 'request' && !isOpen, direction === 'response' && !isOpen];
  if (added !== '') {
    const client = isOpen ? 'One more known value of an open enumeration.' : 'A switch over the values needs a branch for it.';
    report(isReceived ? 'breaking' : 'safe', at, `${subject} can be ${added} now`, client);
  }
  if (gone !== '') {
    const client = isSent ? 'The service refuses it.' : 'It is no longer expected.';
    report(isSent ? 'breaking' : 'safe', at, `${subject} no longer lists ${gone}`, client);
  }
}

/** The values that a schema lists: in `enum` and `const`, or in the `x-seen` branch of an open enumeration. */
function listedValues(shape: Shape): ListedValues | undefined {
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

/** Limits of which a greater number is tighter, and those of which it is looser. */
const LOWER_LIMITS = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties', 'minContains'];
const UPPER_LIMITS = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties', 'maxContains'];
/** Rules that are neither tighter nor looser when they change. */
const RULES = ['pattern', 'format', 'multipleOf', 'contentEncoding', 'contentMediaType'];

function compareLimits(pair: SchemaPair, comparison: Comparison): void {
  const { before, after, at, subject } = comparison;
  for (const keyword of [...LOWER_LIMITS, ...UPPER_LIMITS]) {
    const growsTighter = LOWER_LIMITS.includes(keyword);
    const [was, is] = [limitOf(before, keyword, growsTighter), limitOf(after, keyword, growsTighter)];
    if (was === is) continue;
    const isTighter = is !== undefined && (was === undefined || (growsTighter ? is > was : is < was));
    judge(pair, comparison, isTighter, `${keyword} of ${subject} is ${toText(is)} instead of ${toText(was)}`);
  }
  for (const keyword of RULES) {
    const [was, is] = [keywordOf(before, keyword), keywordOf(after, keyword)];
    if (was === is) continue;
    // A new pattern or format may be narrower or wider, so it counts as breaking.
    const what = `${keyword} of ${subject} is ${toText(is)} instead of ${toText(was)}`;
    if (was === undefined) judge(pair, comparison, true, `${subject} has the ${keyword} ${toText(is)} now`);
    else if (is === undefined) judge(pair, comparison, false, `${subject} no longer has the ${keyword} ${toText(was)}`);
    else pair.report('breaking', at, what, 'The values that you send or read may no longer fit.');
  }
  const [wasUnique, isUnique] = [keywordOf(before, 'uniqueItems') === true, keywordOf(after, 'uniqueItems') === true];
  if (!wasUnique && isUnique) judge(pair, comparison, true, `${subject} must not repeat items now`);
  if (wasUnique && !isUnique) judge(pair, comparison, false, `${subject} can repeat items now`);
}

/** The tightest of several limits. */
function limitOf(shape: Shape, keyword: string, growsTighter: boolean): number | undefined {
  const limits = keywordsOf(shape, keyword).filter((limit) => typeof limit === 'number');
  return limits.length === 0 ? undefined : growsTighter ? Math.max(...limits) : Math.min(...limits);
}

function compareTexts({ report, direction }: SchemaPair, { before, after, at, subject }: Comparison): void {
  const [was, is] = [keywordOf(before, 'default'), keywordOf(after, 'default')];
  if (JSON.stringify(was) !== JSON.stringify(is)) {
    const what = `default of ${subject} is ${toText(is)} instead of ${toText(was)}`;
    if (direction === 'request') report('breaking', at, what, 'Calls without it now get another default.');
    else report('documentation', at, what, NOTHING_CHANGES);
  }
  for (const keyword of keywordsIn(before, after).filter(isText)) {
    if (JSON.stringify(keywordsOf(before, keyword)) === JSON.stringify(keywordsOf(after, keyword))) continue;
    const client = keyword === 'x-secret' ? 'Logs start or stop masking it.' : NOTHING_CHANGES;
    if (!/^(?:\$defs|definitions)$/.test(keyword)) report('documentation', at, `${keyword} of ${subject} changed`, client);
  }
}

function keywordsIn(...shapes: readonly Shape[]): readonly string[] {
  return [...new Set(shapes.flatMap(({ parts }) => parts.flatMap(({ schema }) => Object.keys(schema))))];
}

/** Keywords that other functions compare. */
const COMPARED: ReadonlySet<string> = new Set([
  ...'$ref allOf anyOf oneOf discriminator type enum const default required properties items additionalProperties uniqueItems readOnly writeOnly'.split(
    ' ',
  ),
  ...LOWER_LIMITS,
  ...UPPER_LIMITS,
  ...RULES,
]);
/** Keywords that only restrict values, so that a schema without one allows more. */
const RESTRICTIONS: ReadonlySet<string> = new Set(
  'not if then else contains prefixItems propertyNames dependentRequired dependentSchemas unevaluatedItems unevaluatedProperties contentSchema'.split(
    ' ',
  ),
);

/** Compares the other keywords as a whole. An added or removed restriction is judged; any other change is not compared. */
function compareOthers(pair: SchemaPair, comparison: Comparison): void {
  const { before, after, at, subject } = comparison;
  for (const keyword of keywordsIn(before, after)) {
    if (COMPARED.has(keyword) || isText(keyword)) continue;
    const [were, are] = [keywordsOf(before, keyword), keywordsOf(after, keyword)];
    if (isEquivalent([before.document, were], [after.document, are])) continue;
    // compareProperties compares whether further properties are allowed.
    if (keyword === 'unevaluatedProperties' && isClosed(before) !== isClosed(after)) continue;
    if (RESTRICTIONS.has(keyword) && were.length === 0) judge(pair, comparison, true, `${subject} is restricted by ${keyword} now`);
    else if (RESTRICTIONS.has(keyword) && are.length === 0)
      judge(pair, comparison, false, `${subject} is no longer restricted by ${keyword}`);
    else {
      const what = `${keyword} of ${subject} changed, but this program cannot compare it`;
      pair.report('uncompared', at, what, 'Read the change: it may allow less, or more, than before.');
    }
  }
}

function compareBelow(pair: SchemaComparison, comparison: Comparison, keyword: 'items' | 'additionalProperties'): void {
  const { before, after, name, subject } = comparison;
  const [was, is] = [shapeBelow(before, keyword), shapeBelow(after, keyword)];
  // compareProperties compares whether further properties are allowed.
  function hasSchema(shape: Shape | undefined): shape is Shape {
    return shape !== undefined && shape.allowsAny && shape.parts.length > 0;
  }
  if (hasSchema(was) && hasSchema(is)) return pair.comparePartLater({ before: was, after: is, name: `${name}.*` });
  if (hasSchema(was) === hasSchema(is)) return;
  if (keyword === 'additionalProperties' && isClosed(before) !== isClosed(after)) return;
  judge(pair, comparison, hasSchema(is), `${keyword} of ${subject} are ${hasSchema(is) ? 'described now' : 'no longer described'}`);
}

/** Compares the values that a discriminator names. It allows no other values than the alternatives, but generated code chooses types by it. */
function compareDiscriminator(pair: SchemaPair, comparison: Comparison): void {
  const { before, after, at, subject } = comparison;
  const [was, is] = [discriminatorOf(before), discriminatorOf(after)];
  if (was === undefined && is === undefined) return;
  const client = `Code that chooses the type by it ${RECOMPILE}`;
  if (was === undefined || is === undefined || was.property !== is.property) {
    const what = is === undefined ? 'no longer has a discriminator' : `has the discriminator ${is.property} now`;
    return pair.report('client-breaking', at, `${subject} ${what}`, client);
  }
  const gone = [...was.pointers.keys()].filter((value) => !is.pointers.has(value));
  const added = [...is.pointers.keys()].filter((value) => !was.pointers.has(value));
  if (gone.length > 0) judge(pair, comparison, true, `${is.property} of ${subject} can no longer be ${gone.join(' or ')}`);
  if (added.length > 0) judge(pair, comparison, false, `${is.property} of ${subject} can be ${added.join(' or ')} now`);
  const isMoved = [...was.pointers].some(([value, pointer]) => is.pointers.get(value) !== pointer);
  if (gone.length === 0 && added.length === 0 && isMoved)
    pair.report('client-breaking', at, `the discriminator of ${subject} maps its values to other alternatives now`, client);
}

/** The discriminator of a shape, which the alternatives may be next to in another part of `allOf`. */
function discriminatorOf(shape: Shape): Discriminator | undefined {
  const [oneOf, anyOf] = (['oneOf', 'anyOf'] as const).map((keyword) => keywordsOf(shape, keyword).flat());
  return readDiscriminator({ discriminator: keywordOf(shape, 'discriminator'), oneOf, anyOf });
}

/**
 * Compares alternatives: first those that refer to the same schema by name. Of the rest, those that are the same in both documents are ignored, and
 * the others are compared in their order.
 */
function compareBranches(pair: SchemaComparison, comparison: Comparison, keyword: 'anyOf' | 'oneOf'): void {
  const { before, after, name, subject } = comparison;
  const [were, are] = [comparableBranches(before, keyword), comparableBranches(after, keyword)];
  if (were.length === 0 && are.length > 0) return judge(pair, comparison, true, `${subject} has alternatives (${keyword}) now`);
  if (are.length === 0)
    return were.length === 0 ? undefined : judge(pair, comparison, false, `${subject} no longer has alternatives (${keyword})`);
  function isIn(branch: Shape, others: readonly Shape[]): boolean {
    return others.some((other) => isSameReference(branch, other) || isEquivalent(branchValue(branch), branchValue(other)));
  }
  for (const branch of were)
    for (const same of are.filter((one) => isSameReference(branch, one))) pair.comparePartLater({ before: branch, after: same, name });
  const changed = were.filter((branch) => !isIn(branch, are));
  const other = are.filter((branch) => !isIn(branch, were));
  for (const [index, branch] of changed.entries()) {
    const counterpart = other[index];
    if (counterpart !== undefined) pair.comparePartLater({ before: branch, after: counterpart, name });
    else judge(pair, comparison, true, `${subject} no longer has the alternative ${nameOfBranch(branch)}`);
  }
  for (const branch of other.slice(changed.length)) judge(pair, comparison, false, `${subject} can be ${nameOfBranch(branch)} now`);
}

function referenceOf({ parts: [first] }: Shape): unknown {
  return first?.schema['$ref'];
}

function isSameReference(one: Shape, other: Shape): boolean {
  return referenceOf(one) !== undefined && referenceOf(one) === referenceOf(other);
}

function branchValue({ document, parts: [first] }: Shape): DocumentValue {
  return [document, first?.schema];
}

function comparableBranches(shape: Shape, keyword: 'anyOf' | 'oneOf'): readonly Shape[] {
  return keyword === 'anyOf' && openEnumeration(shape) !== undefined ? [] : branchesOf(shape, keyword);
}

function nameOfBranch(branch: Shape): string {
  const reference = referenceOf(branch);
  if (typeof reference === 'string') return reference.split('/').at(-1) ?? reference;
  const title = keywordOf(branch, 'title');
  const types = [...typesOfShape(branch)].join(' or ');
  return typeof title === 'string' ? title : types === '' ? 'another schema' : types;
}

function toText(value: unknown): string {
  return value === undefined ? 'none' : typeof value === 'object' ? JSON.stringify(value) : String(value);
}
