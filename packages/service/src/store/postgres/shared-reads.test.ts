import { expect, test } from 'vitest';

import { holdFirst } from '../../../test/hold-first.ts';
import { sharedReads } from './shared-reads.ts';

test('a caller that arrives during a read sees what was committed before it arrived', async () => {
  const shareRead = sharedReads();
  let committed = 1;
  const read = holdFirst(async () => committed);
  const first = shareRead('version', read.run);
  await read.done;
  committed = 2;
  const [second, third] = [shareRead('version', read.run), shareRead('version', read.run)];
  read.release();
  expect(await Promise.all([first, second, third])).toEqual([1, 2, 2]);
  expect(read.calls()).toBe(2);
});

test('a read that fails does not fail those of later callers', async () => {
  const shareRead = sharedReads();
  const failing = holdFirst(async () => 1);
  const first = shareRead('version', async () => {
    await failing.run();
    throw new Error('The connection was lost.');
  });
  await failing.done;
  const second = shareRead('version', async () => 2);
  failing.release();
  await expect(first).rejects.toThrow('The connection was lost.');
  expect(await second).toBe(2);
});

test('reads of other names, and reads one after another, share nothing', async () => {
  const shareRead = sharedReads();
  let reads = 0;
  const read = async () => ++reads;
  expect([await shareRead('one', read), await shareRead('one', read), await shareRead('other', read)]).toEqual([1, 2, 3]);
});
