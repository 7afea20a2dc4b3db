import { expect, test } from 'vitest';

import { temporaryDirectory } from './process.ts';
import { runScript } from './runbook.ts';

test('a script that fails ends, with what it printed, although a process that it started goes on', async () => {
  const { code, stderr } = await runScript('sleep 1000 & echo refused >&2; false', temporaryDirectory());
  expect({ code, stderr }).toEqual({ code: 1, stderr: 'refused\n' });
});
