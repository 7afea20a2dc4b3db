/** The facts that a developer needs before calling an operation, in words. */
import type { Operation } from './document.ts';

export interface Fact {
  readonly words: string;
  /** Colour of its badge. */
  readonly color: 'red' | 'orange' | 'blue';
}

export function factsOf(operation: Operation, method: string, followsSpecification: boolean): Fact[] {
  const facts: Fact[] = [];
  if (operation['x-billable'] === true) facts.push({ words: 'Costs money', color: 'red' });
  if (operation['x-destructive'] === true) facts.push({ words: 'Cannot be undone', color: 'red' });
  if (operation['x-retry'] === 'never') {
    const words = followsSpecification ? 'Do not repeat without an Idempotency-Key' : 'Do not repeat after a lost response';
    facts.push({ words, color: 'orange' });
  }
  if (operation['x-sandbox-only'] === true) facts.push({ words: 'Only in a sandbox', color: 'blue' });
  if (operation['x-read-only'] === true && method !== 'GET') facts.push({ words: 'Changes nothing', color: 'blue' });
  return facts;
}
