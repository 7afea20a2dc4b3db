/** The handbook leads to each operation of the operator API that mends something, so that nobody looks for it at night. */
import { readFileSync } from 'node:fs';

import { expect, test } from 'vitest';

import { operationsOf, readDocument } from '../src/document.ts';
import { references } from '../src/references.ts';

const HANDBOOK = readFileSync(new URL('../../../packages/service/OPERATIONS.md', import.meta.url), 'utf8');

/** The verbs of operations that undo or repair. */
const MENDS =
  /^(?:adopt|cancel|createCreditNote|end|recordRefund|release|remove|restart|restore|retry|reverse|revoke|rotate|start|stop|terminate|unsuspend|withdraw)/;
/** The end of a session in a browser mends nothing. */
const NOT_MEANT = new Set(['endSession']);

test('the handbook names each operation that mends something', async () => {
  const [, operator] = references;
  const mending = operationsOf(await readDocument(operator)).filter(
    ({ id, operation }) => MENDS.test(id) && operation['x-sandbox-only'] !== true && !NOT_MEANT.has(id),
  );
  expect(mending.length).toBeGreaterThan(15);
  expect(mending.map(({ id }) => id).filter((id) => !HANDBOOK.includes(`\`${id}\``))).toEqual([]);
});

test('the handbook compares first, and deletes no machine that only the hypervisor knows', () => {
  const [, row = ''] = /^\| VMs of the store \|(.*)$/m.exec(HANDBOOK) ?? [];
  expect(row.indexOf('getReconciliation')).toBeGreaterThan(-1);
  expect(row.indexOf('adoptVm')).toBeGreaterThan(row.indexOf('getReconciliation'));
  expect(row).not.toMatch(/delete it there/);
});
