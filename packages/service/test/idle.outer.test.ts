/** An instance without work asks the database little. */
import { Client } from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';

import { SMALL_VM, startService } from './harness.ts';
import { until } from './instances.ts';
import { accept, addConfirmed, startReceiver } from './webhook-receiver.ts';

const ROUNDS = 10;

test('a round of an idle instance is one query, and the next round finds what has become due', async () => {
  const receiver = await startReceiver(accept);
  const service = await startService({ engine: 'postgres' });
  await addConfirmed(service, { url: receiver.url });
  await service.runScheduledJobs();
  await service.runRound();
  await service.settled();
  const query = vi.spyOn(Client.prototype, 'query');
  onTestFinished(() => query.mockRestore());
  for (let round = 0; round < ROUNDS; round++) await service.runRound();
  await service.settled();
  // The lease of the instance may have been renewed meanwhile.
  const ofRounds = query.mock.calls.filter(([first]) => JSON.stringify(first).includes('select 1 where exists'));
  expect(ofRounds).toHaveLength(ROUNDS);
  expect(query.mock.calls.length).toBeLessThan(2 * ROUNDS);
  await service.call('createVm', { form: SMALL_VM });
  await until(async () => {
    await service.runRound();
    return receiver.got.some(({ event }) => event.type === 'vm.created');
  });
  service.clock.advance(86_400_000 * 40);
  expect(await service.runRound()).toBeGreaterThan(0);
});
