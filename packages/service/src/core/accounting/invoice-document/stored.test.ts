import { expect, onTestFinished, test } from 'vitest';

import { SMALL_VM } from '../../../../test/harness.ts';
import { startOperator } from '../../../../test/operator.ts';
import { createDocumentRenderer } from './renderer.ts';
import { storedDocumentFiles } from './stored.ts';
import type { DocumentFile } from './stored.ts';

/** A service that has issued a document, with a renderer. */
async function issued(tuning: NonNullable<Parameters<typeof startOperator>[0]>['tuning'] = {}) {
  const service = await startOperator({ tuning });
  await service.call('createVm', { form: SMALL_VM });
  service.clock.advanceTo('2026-12-01T00:00:00Z');
  await service.runScheduledJobs();
  const { id } = await service.store.read((db) => db.selectFrom('issued_documents').select('id').executeTakeFirstOrThrow());
  const renderer = createDocumentRenderer();
  onTestFinished(() => renderer.close());
  return { service, id, renderer };
}

async function bytesOf(file: Promise<DocumentFile | undefined>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of (await file)?.parts ?? []) parts.push(part);
  return Buffer.concat(parts);
}

test('a request does not wait for a long drawing, which goes on once, and its document is kept', async () => {
  const { service, id, renderer } = await issued();
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
  await expect.poll(() => files(id).catch(() => undefined)).toMatchObject({ parts: expect.anything() });
  expect((await bytesOf(files(id))).subarray(0, 5).toString()).toBe('%PDF-');
  expect(drawn).toBe(1);
});

test.each([1_000, 100_000, 10_000_000])('a PDF in parts of %d bytes is kept and sent as it was drawn', async (documentPartBytes) => {
  const { service, id, renderer } = await issued({ documentPartBytes });
  let drawn = Buffer.of();
  const files = storedDocumentFiles(service.store, {
    async render(...given) {
      const pdf = await renderer.render(...given);
      drawn = Buffer.from(pdf);
      return pdf;
    },
  });
  const parts = Math.ceil((await bytesOf(files(id))).length / documentPartBytes);
  expect((await bytesOf(files(id))).equals(drawn)).toBe(true);
  const stored = await service.store.read((db) => db.selectFrom('document_parts').select('number').orderBy('number').execute());
  expect(stored.map(({ number }) => number)).toEqual(parts === 1 ? [] : [...Array(parts).keys()]);
  const { list } = (await service.call('listDocuments')).body.data;
  expect(Buffer.from(await (await fetch(list[0].document)).arrayBuffer()).equals(drawn)).toBe(true);
});
