import {
  excludesCreation,
  isCreation,
  isItemWrite,
  itemIn,
  removalOf,
  resourcesAt,
  pathShapeOf,
  undoOf,
  withoutEnding,
} from '../document/creation.ts';
import type { OpenApiDocument } from '../document/document.ts';
import { isObject } from '../document/json.ts';
import type { Operation } from '../document/operation.ts';
import { fillPath, folderOf, pathParameters } from '../document/path-template.ts';
import type { Validator } from '../document/validator.ts';
import { discoverBelow, discoverCreated, identifiersAnywhere, isListFrom, pathOf } from '../exchange/discover.ts';
import type { PathValues } from '../exchange/discover.ts';
import { isSuccess, jsonValue } from '../exchange/exchange.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { isWalked, pagingOf } from '../exchange/paging.ts';
import { namedPaths } from './planning.ts';
import type { Naming } from './planning.ts';
import { isChange } from './step.ts';
import type { Step } from './step.ts';

/** A resource that a request made, as its response names it. */
export interface Made {
  /** The path parameters of an operation on it. */
  readonly pathFor: (operation: Operation) => PathValues | undefined;
  /** Its path: `/projects/7/tasks/3`. */
  readonly resource: string;
  /** Readable: "project_id 7, task_id 3". */
  readonly name: string;
  /** Whether the response proves that it did not exist before. Only then the run owns it. */
  readonly isNew: boolean;
}

interface OwnershipParts {
  readonly document: OpenApiDocument;
  readonly validator: Validator;
  readonly operations: readonly Operation[];
  readonly naming: Naming;
}

/** What is at the path of a resource, as far as responses show it. The run owns what it made, until it removes it. `maybe`: foreign, or nothing. */
type State = 'made' | 'foreign' | 'maybe' | 'absent';

/** Statuses of a read which show that there is no such resource. */
const ABSENT: ReadonlySet<number> = new Set([400, 404, 410, 422]);
/** Parameters of a list that can leave out resources. */
const PAGE = /^(?:page|per_?page|limit|offset|skip|start|cursor|after|filter)/i;
/** Identifiers that a service gives only once: UUIDs, and others of many letters and digits. */
function isGivenOnce(identifier: string): boolean {
  return UUID.test(identifier.slice(-36)) || /^[0-9a-zA-Z]{16}$/.test(identifier.slice(-16));
}
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;
const CREATION_TIME = /creat|added/i;
/** A resource with a time of creation this close to the request is new. */
const NEW_MS = 5 * 60_000;

/**
 * The changes that a run may make: of the resources that it made, and of those that the user named. A resource is its whole path with the values of its parents,
 * such as `/projects/7/tasks/3`. The guard asks for each request, whichever step of the plan it belongs to.
 */
export class Ownership {
  readonly #parts: OwnershipParts;
  readonly #states = new Map<string, State>();
  /** The resources that the run removed. */
  readonly #removed = new Set<string>();
  /** The resources that the run made after its latest removal in their collection. */
  readonly #recent = new Map<string, string>();
  /** Whether a list of a collection showed all of its resources. */
  readonly #listed = new Map<string, boolean>();

  constructor(parts: OwnershipParts) {
    this.#parts = parts;
  }

  /** Whether the run made the resource at a path, or one above it. */
  owns(operation: Pick<Operation, 'path'>, path: PathValues): boolean {
    return this.#stateAt(operation, path, 'made');
  }

  /** Takes a resource as made by the run, because a list shows it with the values that the run sent. */
  claim(operation: Operation, path: PathValues): void {
    const resource = resourcesAt(operation.path, path).at(-1);
    if (resource !== undefined) this.#states.set(resource, 'made');
  }

  /** Why the run may not send a request with these path parameters, or undefined. */
  refusal(step: Step, path: PathValues): string | undefined {
    const { operation, isUnknown = false, purpose } = step;
    if (!isChange(step)) return undefined;
    const own = resourcesAt(operation.path, path).at(-1) ?? '';
    if (purpose === 'remove-again' && this.#removed.has(own))
      return this.#isNotReused(own) ? undefined : 'another resource may have the identifier now';
    if (this.#stateAt(operation, path, 'made')) return undefined;
    if (isUnknown) {
      if (!this.#stateAt(operation, path, 'absent')) return 'no read has shown that there is no such resource';
      if (operation.method === 'DELETE' || excludesCreation(operation) || this.#parts.naming.names.has(operation.id)) return undefined;
      return 'the service may create it, and the user did not name the operation';
    }
    if (this.#isNamed(operation, path)) {
      const isBroken = purpose === 'invalid-parameter' || purpose === 'invalid-form';
      return operation.method === 'DELETE' && isBroken ? 'a removal with a broken filter can remove more than the user named' : undefined;
    }
    const undo =
      isCreation(operation, this.#parts.operations) && step.method === operation.method
        ? undoOf(operation, this.#parts.operations)
        : undefined;
    if (undo !== undefined && !undo.billable && !operation.billable) return undefined;
    return 'this run did not make it, and the user did not name it';
  }

  /** Learns from a response what exists, what does not, and what the run made or removed. Returns what the request made. */
  saw(exchange: Exchange): Made | undefined {
    const { operation, status, sent } = exchange;
    if (sent.method !== operation.method) return undefined;
    if (operation.readOnly) {
      if (sent.credential === 'account') this.#sawRead(exchange);
      return undefined;
    }
    if (!isSuccess(status)) return undefined;
    if (operation.method !== 'DELETE') return this.#madeBy(exchange);
    const resource = resourcesAt(operation.path, pathOf(exchange)).at(-1);
    // From now on, the identifier may belong to another resource.
    if (resource !== undefined && this.#states.get(resource) === 'made' && this.#isRemovalOfItem(operation)) {
      this.#states.delete(resource);
      this.#removed.add(resource);
      this.#recent.delete(folderOf(resource));
    }
    return undefined;
  }

  /** The path parameters of a step that are about what the run made, or about something below it; after removals, about what it removed. */
  pathsFor({ operation, purpose }: Pick<Step, 'operation' | 'purpose'>, exchanges: readonly Exchange[]): readonly PathValues[] {
    const shape = pathShapeOf(operation.path);
    const names = pathParameters(operation.path);
    const isAfter = purpose === 'remove-again' || purpose === 'read-removed' || (purpose === 'leftover' && operation.method === 'GET');
    const resources = isAfter
      ? [...this.#removed].filter((one) => this.#states.get(one) !== 'made')
      : [...this.#states].flatMap(([resource, state]) => (state === 'made' ? [resource] : []));
    const own = resources.flatMap((resource) => {
      const values = valuesAt(shape, resource);
      return values?.length === names.length ? [Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']))] : [];
    });
    return isAfter
      ? own
      : [...own, ...discoverBelow({ ...this.#parts, operation, exchanges }, (path) => this.#stateAt(operation, path, 'made'))];
  }

  #stateAt({ path: template }: Pick<Operation, 'path'>, path: PathValues, state: State): boolean {
    return resourcesAt(template, path).some((resource) => this.#states.get(resource) === state);
  }

  #note(resource: string | undefined, state: 'foreign' | 'maybe' | 'absent'): void {
    if (resource !== undefined && this.#states.get(resource) !== 'made') this.#states.set(resource, state);
  }

  #isNamed(operation: Operation, path: PathValues): boolean {
    const undone = this.#parts.operations.filter(
      (other) => this.#parts.naming.names.has(other.id) && undoOf(other, this.#parts.operations)?.id === operation.id,
    );
    return [...(this.#parts.naming.names.has(operation.id) ? [operation] : []), ...undone].some((one) => {
      const paths = namedPaths(this.#parts.naming, one);
      if (paths.length > 0) return paths.some((named) => sameValues(named, path));
      // A creation without an identifier may take place below any parent.
      return one.id === operation.id && (pathParameters(one.path).length === 0 || isCreation(one, this.#parts.operations));
    });
  }

  #isNew({ operation, status, body, sent }: Exchange, resource: string): boolean {
    const before = this.#states.get(resource);
    if (before === 'foreign') return false;
    if (isItemWrite(operation)) return before === 'absent' || status === 201;
    if (status === 201) return true;
    if (before === 'maybe') return false;
    // A document that describes 201 says with another status that the resource existed before.
    if (operation.responses['201'] !== undefined) return false;
    const isListed = this.#listed.get(folderOf(resource));
    return isListed !== false || (body.kind === 'json' && hasTimeNear(body.value, Date.parse(sent.at)));
  }

  /**
   * Whether no other resource can get the identifier of a removed one: it is unique, or the service gave a later one to a resource that the
   * run made after the removal, while a read showed that the removed one was free.
   */
  #isNotReused(resource: string): boolean {
    if (isGivenOnce(resource)) return this.#states.get(resource) !== 'made';
    const later = this.#recent.get(folderOf(resource));
    if (later === undefined || this.#states.get(resource) !== 'absent') return false;
    return later.length === resource.length ? later > resource : later.length > resource.length;
  }

  #madeBy(exchange: Exchange): Made | undefined {
    const { operation } = exchange;
    const pathFor = (other: Operation): PathValues | undefined => discoverCreated({ ...this.#parts, operation: other, exchange });
    const items = this.#parts.operations.flatMap((other) => {
      const path = pathFor(other);
      return path === undefined ? [] : [{ other, path }];
    });
    const item = items.find(({ other }) => itemIn(other.path, operation) !== undefined) ?? items[0];
    const resource = item === undefined ? undefined : resourcesAt(item.other.path, item.path).at(-1);
    if (item === undefined || resource === undefined) return undefined;
    // The change of what the run made.
    if (this.#states.get(resource) === 'made') return undefined;
    const isOurs = this.#isNew(exchange, resource);
    if (isOurs) {
      this.#states.set(resource, 'made');
      this.#recent.set(folderOf(resource), resource);
    } else this.#note(resource, 'foreign');
    return { pathFor, resource, name: nameOfResource(item.path), isNew: isOurs };
  }

  #sawRead(exchange: Exchange): void {
    const { operation, status } = exchange;
    const path = pathOf(exchange);
    const resources = resourcesAt(operation.path, path);
    if (ABSENT.has(status)) this.#note(resources.at(-1), 'absent');
    if (!isSuccess(status)) return;
    for (const resource of resources) this.#note(resource, 'foreign');
    for (const item of this.#parts.operations) {
      if (!isListFrom(operation, item.path)) continue;
      const depth = item.path.slice(0, item.path.lastIndexOf('/{')).split('/').length;
      const folder = fillPath(withoutEnding(operation.path), path).split('/').slice(0, depth).join('/');
      this.#listed.set(folder, this.#isComplete(exchange));
      const { values, isSure } = identifiersAnywhere(jsonValue(exchange), pathParameters(item.path).at(-1) ?? '');
      for (const value of values) {
        const resource = `${folder}/${encodeURIComponent(value)}`;
        if (isSure || this.#states.get(resource) !== 'foreign') this.#note(resource, isSure ? 'foreign' : 'maybe');
      }
    }
  }

  /** Whether a list shows all resources: the document describes no pages for it, or this is the last one. */
  #isComplete(exchange: Exchange): boolean {
    const { operation } = exchange;
    const paging = pagingOf(this.#parts.document, operation);
    if (paging !== undefined && isWalked(paging)) return paging.next(exchange) === undefined;
    const items = paging?.itemsOf(jsonValue(exchange));
    if (items !== undefined && paging?.size !== undefined) return items.length < paging.size;
    return !operation.parameters.some(({ in: place, name, required }) => place === 'query' && (required || PAGE.test(name)));
  }

  #isRemovalOfItem(operation: Operation): boolean {
    return (
      withoutEnding(operation.path).endsWith('}') ||
      this.#parts.operations.some((other) => removalOf(other, this.#parts.operations)?.id === operation.id)
    );
  }
}

/** The values of the parameters in a path shape that begins with the path of a resource: `7` for `/things/{}/parts` and `/things/7`. */
function valuesAt(shape: string, resource: string): readonly string[] | undefined {
  const [words, segments] = [shape.split('/'), resource.split('/')];
  if (segments.length > words.length || !words[segments.length - 1]?.includes('{}')) return undefined;
  const values: string[] = [];
  for (const [index, segment] of segments.entries()) {
    if (words[index] === '{}') values.push(decodeURIComponent(segment));
    else if (words[index] !== segment) return undefined;
  }
  return values;
}

/** Whether the path parameters of an operation have the same values. */
export function sameValues(one: PathValues, other: PathValues): boolean {
  return JSON.stringify(Object.values(one)) === JSON.stringify(Object.values(other));
}

/** The name of a resource for readers: "project_id 7, task_id 3". */
export function nameOfResource(path: PathValues): string {
  return Object.entries(path)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');
}

/** Whether a body has a time of creation close to another time, both in milliseconds. */
function hasTimeNear(value: unknown, at: number): boolean {
  if (Array.isArray(value)) return value.some((item) => hasTimeNear(item, at));
  if (!isObject(value)) return false;
  return Object.entries(value).some(([name, member]) => {
    if (typeof member === 'object') return hasTimeNear(member, at);
    const time = typeof member === 'number' ? (member > 1e11 ? member : member * 1_000) : Date.parse(String(member));
    return CREATION_TIME.test(name) && Math.abs(time - at) < NEW_MS;
  });
}
