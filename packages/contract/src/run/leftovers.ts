import { createHash } from 'node:crypto';

import type { Operation } from '../document/operation.ts';
import { NO_PARAMETERS } from '../document/parameters.ts';
import { hasPathParameters } from '../document/path-template.ts';
import type { JournalEntry } from './journal.ts';
import { PHASES } from './step.ts';
import type { Step } from './step.ts';

/** A change that an earlier run did not undo. */
export interface Leftover {
  readonly entry: JournalEntry;
  /** The requests that look at the resource and undo the change; none when it must not be undone. */
  readonly steps: readonly Step[];
  /** Why it must not be undone. */
  readonly problem: string | undefined;
  /** Whether later runs need not list it again. */
  readonly isOld: boolean;
}

const DAY_MS = 24 * 60 * 60 * 1_000;

/** Identifies the account of a key without revealing the key: too short for a search for the key. */
export function accountOf(apiKey: string | undefined): string {
  return createHash('sha256')
    .update(`account ${apiKey ?? ''}`)
    .digest('hex')
    .slice(0, 8);
}

/** Decides for each open entry of the journal how the run treats it. */
export function leftoversOf(entries: readonly JournalEntry[], operations: readonly Operation[]): readonly Leftover[] {
  return entries.map((entry) => leftoverOf(entry, operations));
}

function leftoverOf(entry: JournalEntry, operations: readonly Operation[]): Leftover {
  const { undo, at, id, operation: name } = entry;
  const operation = operations.find((one) => one.id === undo?.operation);
  const isOld = !(Date.now() - Date.parse(at) < DAY_MS);
  function kept(problem: string): Leftover {
    return { entry, steps: [], problem, isOld };
  }
  if (undo === undefined || operation === undefined)
    return kept('the run ended before the response, so the identifier of the resource is unknown');
  if (isOld) return kept('it is more than a day old, so it may be another resource now');
  const base = {
    credential: 'account' as const,
    form: undefined,
    parameters: NO_PARAMETERS,
    path: hasPathParameters(operation.path) ? undo.path : ('none' as const),
    detail: `left behind by ${name} of an earlier run`,
    times: 1,
    phase: PHASES.orphans,
    undoes: id,
  };
  const undoing: Step = { ...base, operation, method: operation.method, purpose: 'undo', effect: 'changes' };
  // Only a removal destroys data when the resource is another one.
  if (operation.method !== 'DELETE') return { entry, steps: [undoing], problem: undefined, isOld };
  const reader = operations.find((one) => one.method === 'GET' && one.path === operation.path);
  if (reader === undefined) return kept('the document has no operation that reads it, so it cannot be recognised');
  if (entry.fingerprint === undefined || entry.fingerprint.unique.length === 0)
    return kept('its values are too common, so it cannot be recognised');
  const look: Step = { ...base, operation: reader, method: 'GET', purpose: 'leftover', effect: 'reads' };
  return { entry, steps: [look, undoing], problem: undefined, isOld };
}
