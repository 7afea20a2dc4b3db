import { EVENT_TYPES } from '../../generated/facts.gen.ts';

const TYPES: ReadonlySet<string> = new Set(EVENT_TYPES);

/** Whether the document has a type of event with this name. */
export function isEventType(name: string): boolean {
  return TYPES.has(name);
}
