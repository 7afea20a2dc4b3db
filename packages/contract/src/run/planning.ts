import type { OpenApiDocument } from '../document/document.ts';
import type { Operation } from '../document/operation.ts';
import { NO_PARAMETERS } from '../document/parameters.ts';
import type { GivenValues } from '../document/parameters.ts';
import { pathParameters } from '../document/path-template.ts';
import type { Validator } from '../document/validator.ts';
import type { PathValues } from '../exchange/discover.ts';
import type { UsableDocument } from '../judge/usable.ts';
import type { Extension } from './extension.ts';
import type { JournalEntry } from './journal.ts';
import type { Sendable } from './sendable.ts';
import type { Effect, Step, StepForm } from './step.ts';

export type Mode = 'read-only' | 'full';

/**
 * Operations by id, each with the resources that it may use, if given: the identifier, or for several path parameters the identifiers with
 * slashes between them.
 */
export type NamedOperations = ReadonlyMap<string, string | readonly string[] | undefined>;

/** The operations and resources that the user named. */
export interface Naming {
  readonly names: NamedOperations;
  /** Values of parameters; those of all path parameters of a named operation name its resource too. */
  readonly given: GivenValues;
}

export interface PlanOptions {
  readonly document: OpenApiDocument;
  readonly operations: readonly Operation[];
  readonly validator: Validator;
  readonly mode: Mode;
  /** Restricts the run to these operations; empty for all operations that need not be named. */
  readonly only: NamedOperations;
  /** Adds these operations to the run. */
  readonly also: NamedOperations;
  readonly seed: number;
  /** The values that the user gives. */
  readonly given: GivenValues;
  /** The maximum number of valid requests for each operation. Default: 10. */
  readonly requests?: number;
  /** Changes of earlier runs that can still be undone. */
  readonly orphans: readonly JournalEntry[];
  readonly extensions: readonly Extension[];
  /** Operations that cannot be used, with the reason. */
  readonly unusable: ReadonlyMap<string, string>;
  /** Compiles schemas of an operation that the run touches, and returns whether it is usable. Default: it is. */
  readonly prepare?: UsableDocument['prepare'];
}

/** The default number of valid requests for each operation in full mode. */
export const DEFAULT_REQUESTS = 10;

/** What all functions that plan steps need. */
export interface Planning extends PlanOptions {
  /** Reads whose responses have identifiers for the wanted operations. */
  readonly sources: ReadonlySet<string>;
  readonly sendable: ReadonlyMap<string, Sendable | string>;
  readonly withheld: Map<string, string>;
  readonly names: NamedOperations;
  /** Why the run may use each operation that changes something. */
  readonly allowed: ReadonlyMap<string, string>;
}

/** The parts of a step that are the same for most requests of an operation. */
export function base(
  planning: Planning,
  operation: Operation,
  effect: Effect,
): Pick<Step, 'operation' | 'method' | 'credential' | 'form' | 'parameters' | 'detail' | 'times' | 'effect'> {
  const sendable = planning.sendable.get(operation.id);
  const parameters = typeof sendable === 'object' ? sendable.parameters : NO_PARAMETERS;
  return { operation, method: operation.method, credential: 'account', form: undefined, parameters, detail: '', times: 1, effect };
}

export function formOf({ sendable }: Planning, operation: Operation): StepForm | undefined {
  const made = sendable.get(operation.id);
  return typeof made === 'object' ? made.form : undefined;
}

export function isSendable({ sendable }: Planning, operation: Operation): boolean {
  return typeof sendable.get(operation.id) === 'object';
}

/** The path parameters of the resources that the user names for an operation. */
export function namedPaths({ names, given }: Naming, { id, path }: Operation): readonly PathValues[] {
  const parameters = pathParameters(path);
  if (!names.has(id) || parameters.length === 0) return [];
  const named = [names.get(id) ?? []].flat();
  if (named.length > 0)
    return named.map((word) => {
      const values = parameters.length === 1 ? [word] : word.split('/');
      return Object.fromEntries(parameters.map((name, index) => [name, values[index] ?? '']));
    });
  const isGiven = parameters.every((name) => Object.hasOwn(given.values, name));
  return isGiven ? [Object.fromEntries(parameters.map((name) => [name, given.values[name] ?? '']))] : [];
}
