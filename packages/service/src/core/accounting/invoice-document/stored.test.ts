import { expect, onTestFinished, test } from 'vitest';

import { SMALL_VM } from '../../../../test/harness.ts';
import { startOperator } from '../../../../test/operator.ts';
import { createDocumentRenderer } from './renderer.ts';
import { storedDocumentFiles } from './stored.ts';

test('a request does not wait for a long drawing, which goes on once, and its document is kept', async () => {
  const service = await startOperator();
  await service.call('createVm', { form: SMALL_VM });
  service.clock.advanceTo('2026-12-01T00:00:00Z');
  await service.runScheduledJobs();
  const { id } = await service.store.read((db) => db.selectFrom('issued_documents').select('id').executeTakeFirstOrThrow());
  const renderer = createDocumentRenderer();
  onTestFinished(() => renderer.close());
  const drawing = Promise.withResolvers<void>();
  let drawn = 0;
  const files = storedDocumentFiles(
    service.store,
    {
      async render(...given) {
        drawn++;
        await drawing.promise;
        return renderer.render(...given);
      },
    },
    20,
  );
  const refused = { status: 503, type: 'unavailable', message: expect.stringContaining('still being drawn') };
  for (const file of await Promise.allSettled([files(id), files(id)])) expect(file).toMatchObject({ status: 'rejected', reason: refused });
  await expect(files(id)).rejects.toMatchObject(refused);
  drawing.resolve();
  await expect.poll(() => files(id).catch(() => undefined), { timeout: 60_000 }).toMatchObject({ bytes: expect.any(Buffer) });
  expect(
    Buffer.from((await files(id))?.bytes ?? [])
      .subarray(0, 5)
      .toString(),
  ).toBe('%PDF-');
  expect(drawn).toBe(1);
});
