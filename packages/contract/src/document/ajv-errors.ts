import type { ErrorObject } from 'ajv/dist/2020.js';

import { readDiscriminator } from './discriminator.ts';
import type { Issue } from './issues.ts';
import { isObject } from './json.ts';
import { expectation, typeNames } from './messages.ts';
import { joinPointer } from './pointer.ts';

/** For each keyword about a missing or unexpected property, the parameter of the Ajv error with the name of the property. */
const NAMES_PROPERTY = new Map([
  ['required', 'missingProperty'],
  ['dependentRequired', 'missingProperty'],
  ['dependencies', 'missingProperty'],
  ['additionalProperties', 'additionalProperty'],
  ['unevaluatedProperties', 'unevaluatedProperty'],
  ['propertyNames', 'propertyName'],
]);

interface FoundIssue {
  readonly error: ErrorObject;
  readonly issue: Issue;
}

/**
 * Converts Ajv errors to issues, one for each cause.
 * @param pointers JSON pointer of each schema object in the document
 */
export function readErrors(errors: readonly ErrorObject[], pointers: ReadonlyMap<object, string>): readonly Issue[] {
  const found: FoundIssue[] = [];
  for (const error of errors) {
    // Other errors name the problem: those of the branch, or the one of `propertyNames` itself.
    if (error.keyword === 'if') continue;
    if (error.propertyName !== undefined && error.keyword !== 'propertyNames') continue;
    const isUnmatched = error.keyword === 'anyOf' || (error.keyword === 'oneOf' && !Array.isArray(error.params['passingSchemas']));
    // The rules of the alternatives that a value does not match do not apply to it.
    if (error.keyword === 'oneOf' && !isUnmatched) takeBranches(found, error);
    if (!isUnmatched) {
      found.push({ error, issue: readError(error, pointers) });
      continue;
    }
    const branches = takeBranches(found, error);
    found.push(
      ...(selectedBranch(error, branches, pointers) ??
        meantBranch(error, branches) ?? [{ error, issue: readAlternatives(error, branches, pointers) }]),
    );
  }
  return distinct(found);
}

function readError(error: ErrorObject, pointers: ReadonlyMap<object, string>): Issue {
  const { keyword, params, instancePath } = error;
  const property: unknown = params[NAMES_PROPERTY.get(keyword) ?? ''];
  const schema = isObject(error.parentSchema) ? error.parentSchema : {};
  return {
    path: typeof property === 'string' ? joinPointer(instancePath, property) : instancePath,
    keyword,
    message: expectation(keyword, params, schema),
    params,
    schemaPath: schemaPath(error, pointers),
  };
}

function schemaPath(error: ErrorObject, pointers: ReadonlyMap<object, string>): string {
  const pointer = isObject(error.parentSchema) ? pointers.get(error.parentSchema) : undefined;
  return pointer === undefined ? '' : joinPointer(pointer, error.keyword);
}

/** Removes the errors of the branches from the end of the list. Ajv reports them just before the error of `anyOf` or `oneOf`. */
function takeBranches(found: FoundIssue[], error: ErrorObject): readonly FoundIssue[] {
  const branches: FoundIssue[] = [];
  for (let last = found.at(-1); last !== undefined; last = found.at(-1)) {
    const isInside = last.error.instancePath === error.instancePath || last.error.instancePath.startsWith(`${error.instancePath}/`);
    if (!isInside || last.error.parentSchema === error.parentSchema) break;
    branches.unshift(last);
    found.pop();
  }
  return branches;
}

/** The discriminator of an object: its property, the value in the data, and the pointer of the alternative that the value names. */
function discriminatorValueOf({
  parentSchema,
  data,
}: ErrorObject): { readonly name: string; readonly value: unknown; readonly pointer: string | undefined } | undefined {
  const discriminator = isObject(parentSchema) ? readDiscriminator(parentSchema) : undefined;
  if (discriminator === undefined || !isObject(data)) return undefined;
  const { property: name, pointers } = discriminator;
  const value = data[name];
  return { name, value, pointer: typeof value === 'string' ? pointers.get(value) : undefined };
}

/**
 * The issues of the branch that the data selects: by the discriminator, else by a constant that only one branch accepts.
 * @returns one issue about the discriminator when it selects no branch, and undefined when the data selects none
 */
function selectedBranch(
  error: ErrorObject,
  found: readonly FoundIssue[],
  pointers: ReadonlyMap<object, string>,
): readonly FoundIssue[] | undefined {
  const branches = branchPointers(error, pointers);
  const placed = Map.groupBy(found, ({ issue }) =>
    branches.findIndex((starts) => starts.some((start) => issue.schemaPath.startsWith(`${start}/`))),
  );
  // The place of an issue may be unknown, or be in several branches.
  if (placed.has(-1)) return undefined;
  const discriminator = discriminatorValueOf(error);
  function isOther(index: number): boolean {
    return (placed.get(index) ?? []).some(
      ({ error: { keyword, instancePath } }) =>
        (keyword === 'const' || keyword === 'enum') &&
        instancePath.startsWith(`${error.instancePath}/`) &&
        (discriminator === undefined || instancePath === joinPointer(error.instancePath, discriminator.name)),
    );
  }
  const named = discriminator?.pointer;
  const mapped = named === undefined ? -1 : branches.findIndex((starts) => starts.includes(named));
  const possible = mapped >= 0 ? [mapped] : branches.map((_, index) => index).filter((index) => !isOther(index));
  const [selected] = possible;
  if (possible.length === 1 && selected !== undefined && branches.some((_, index) => index !== selected && isOther(index))) {
    const issues = placed.get(selected);
    if (issues === undefined) return undefined;
    return issues.map((one) =>
      discriminator === undefined
        ? one
        : {
            ...one,
            issue: { ...one.issue, message: `${one.issue.message} (${discriminator.name} is ${JSON.stringify(discriminator.value)})` },
          },
    );
  }
  if (discriminator === undefined || possible.length > 0 || mapped >= 0) return undefined;
  const allowed = [...placed.values()]
    .flat()
    .flatMap(({ error: one }): unknown[] =>
      one.instancePath === joinPointer(error.instancePath, discriminator.name)
        ? one.keyword === 'const'
          ? [one.params['allowedValue']]
          : Array.isArray(one.params['allowedValues'])
            ? one.params['allowedValues']
            : []
        : [],
    );
  const path = joinPointer(error.instancePath, discriminator.name);
  const message = expectation('enum', { allowedValues: [...new Set(allowed)] }, {});
  return [{ error, issue: { path, keyword: 'discriminator', message, params: {}, schemaPath: schemaPath(error, pointers) } }];
}

/** For each branch, the places of the schemas that it consists of: its own, and those that it refers to or combines with `allOf`. */
function branchPointers(
  { schema, parentSchema, keyword }: ErrorObject,
  pointers: ReadonlyMap<object, string>,
): readonly (readonly string[])[] {
  const holder = isObject(parentSchema) ? pointers.get(parentSchema) : undefined;
  if (!Array.isArray(schema) || holder === undefined) return [];
  const schemas = schemasAt(pointers);
  return schema.map((_, index) => {
    const places = new Set<string>();
    function addPlace(place: string): void {
      if (places.has(place)) return;
      places.add(place);
      const found = schemas.get(place);
      if (!isObject(found)) return;
      const { $ref: reference, allOf } = found;
      if (typeof reference === 'string') addPlace(reference.slice(reference.indexOf('#') + 1));
      if (Array.isArray(allOf)) allOf.forEach((_part, position) => addPlace(joinPointer(place, 'allOf', position)));
    }
    addPlace(joinPointer(holder, keyword, index));
    return [...places];
  });
}

const known = new WeakMap<ReadonlyMap<object, string>, ReadonlyMap<string, object>>();

function schemasAt(pointers: ReadonlyMap<object, string>): ReadonlyMap<string, object> {
  const schemas = known.get(pointers) ?? new Map([...pointers].map(([schema, pointer]) => [pointer, schema]));
  known.set(pointers, schemas);
  return schemas;
}

/** The issues of the only branch whose type matches the value, such as the object in "object or null". */
function meantBranch(error: ErrorObject, branches: readonly FoundIssue[]): readonly FoundIssue[] | undefined {
  function isMistyped({ issue }: FoundIssue): boolean {
    return issue.path === error.instancePath && issue.keyword === 'type';
  }
  const others = new Set(branches.filter(isMistyped).map(({ issue }) => issue.schemaPath));
  const meant = branches.filter((branch) => !isMistyped(branch));
  const isInside = meant.some(({ issue }) => issue.path !== error.instancePath);
  return isInside && others.size === branchCount(error) - 1 ? meant : undefined;
}

function branchCount({ schema }: ErrorObject): number {
  return Array.isArray(schema) ? schema.length : Infinity;
}

/** One issue for a value that matches no alternative. It lists what the alternatives expect. */
function readAlternatives(error: ErrorObject, found: readonly FoundIssue[], pointers: ReadonlyMap<object, string>): Issue {
  const branches = found.map(({ issue }) => issue);
  const path = error.instancePath;
  const place = schemaPath(error, pointers);
  const mistyped = branches.filter((issue) => issue.path === path && issue.keyword === 'type');
  const count = branchCount(error);
  if (new Set(mistyped.map((issue) => issue.schemaPath)).size >= count) {
    const type = mistyped.flatMap((issue): unknown => issue.params['type']);
    return { path, keyword: 'type', message: `must be ${typeNames(type)}`, params: { type }, schemaPath: place };
  }
  const messages = new Set(branches.map((issue) => issue.message));
  const isSimple = branches.length > 0 && branches.every((issue) => issue.path === path);
  const message = isSimple ? [...messages].join(', or ') : 'must match one of the described alternatives, but matches none';
  return { path, keyword: error.keyword, message, params: {}, schemaPath: place };
}

/** Removes duplicates, and other issues of a value that has the wrong type for the same schema. */
function distinct(found: readonly FoundIssue[]): readonly Issue[] {
  const mistyped = new Set<string>();
  for (const { error, issue } of found) if (issue.keyword === 'type') mistyped.add(`${issue.path}\n${schemaOf(error, issue)}`);
  const issues = new Map<string, Issue>();
  for (const { error, issue } of found) {
    if (issue.keyword !== 'type' && error.instancePath === issue.path && mistyped.has(`${issue.path}\n${schemaOf(error, issue)}`)) continue;
    const key = `${issue.path}\n${issue.keyword}\n${issue.message}`;
    if (!issues.has(key)) issues.set(key, issue);
  }
  return [...issues.values()];
}

function schemaOf(error: ErrorObject, issue: Issue): string {
  return issue.schemaPath.slice(0, -error.keyword.length - 1);
}
