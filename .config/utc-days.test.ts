/** People read days in the time zone of the provider. A day in UTC is made only for what is in UTC by rule. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..');

/** The users of `utcDay`, with the rule of each. */
const IN_UTC: Readonly<Record<string, string>> = {
  'packages/service/src/core/accounting/invoice-document/content.ts': 'months of billing',
  'packages/service/src/core/accounting/invoice-document/issue.ts': 'the date of an invoice, which is the end of a month of billing',
  'packages/service/src/core/domain/renew.ts': 'the expiry that a registry has',
  'packages/service/src/core/vm/usage.ts': 'days of traffic',
  'packages/service/src/rules/spending.ts': 'days of a spending limit',
};
const RULE = 'packages/service/src/rules/day.ts';

test('a day in UTC is made by one function, where something is in UTC by rule', () => {
  const files = execFileSync('git', ['ls-files', 'packages/service/src/*.ts'], { cwd: ROOT, encoding: 'utf8' })
    .split('\n')
    .filter((file) => file !== '' && file !== RULE && !file.endsWith('.test.ts'));
  const matching = (pattern: RegExp) => files.filter((file) => pattern.test(readFileSync(join(ROOT, file), 'utf8')));
  expect(matching(/toISOString\(\)\s*\.(?:slice|substring)\(0, 10\)/)).toEqual([]);
  expect(matching(/\butcDay\(/)).toEqual(Object.keys(IN_UTC));
});
