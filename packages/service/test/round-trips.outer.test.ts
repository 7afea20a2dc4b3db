/** How often a request waits for PostgreSQL. Statements that are sent before the result of an earlier one is there share a round trip. */
import { inspect } from 'node:util';

import { Client } from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';

import { SMALL_VM, startService } from './harness.ts';

test('a purchase with an Idempotency-Key waits for PostgreSQL at most ten times', async () => {
  const service = await startService({ engine: 'postgres' });
  // It reads the catalogue, which the service then keeps.
  await service.call('createVm', { form: SMALL_VM });
  await service.settled();
  const trips = countRoundTrips();
  const { status } = await service.call('createVm', { form: SMALL_VM, idempotencyKey: 'first' });
  expect({ status, waits: trips.length <= 10 ? 'at most 10' : trips }).toEqual({ status: 200, waits: 'at most 10' });
});

test('a read waits for PostgreSQL once, and once more for the commit of its log entry', async () => {
  const service = await startService({ engine: 'postgres' });
  await service.call('listVmHosts');
  await service.settled();
  const trips = countRoundTrips();
  const { status } = await service.call('listVmHosts');
  expect({ status, commits: trips.length <= 1 ? 'at most 1' : trips }).toEqual({ status: 200, commits: 'at most 1' });
});

/** The first statement of each round trip of a transaction from now on. Reads outside of one fill caches, which may end in between. */
function countRoundTrips(): string[] {
  const trips: string[] = [];
  const unanswered = new Map<Client, number>();
  const inTransaction = new Set<Client>();
  const { query } = Client.prototype;
  const spy = vi.spyOn(Client.prototype, 'query').mockImplementation(function count(this: Client, ...sent: unknown[]) {
    const before = unanswered.get(this) ?? 0;
    const statement = inspect(sent[0]);
    if (/\bbegin\b/i.test(statement)) inTransaction.add(this);
    if (before === 0 && inTransaction.has(this)) trips.push(statement);
    if (/\bcommit\b/i.test(statement)) inTransaction.delete(this);
    unanswered.set(this, before + 1);
    const result: Promise<unknown> = Reflect.apply(query, this, sent);
    const end = () => void unanswered.set(this, (unanswered.get(this) ?? 1) - 1);
    result.then(end, end);
    return result as never;
  });
  onTestFinished(() => spy.mockRestore());
  return trips;
}
