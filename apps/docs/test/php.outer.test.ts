/** The code of the guide to PHP, run by PHP itself against a sandbox. */
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { expect, onTestFinished, test } from 'vitest';

import { blocksOf, shownOutput } from '../../../.config/blocks.ts';
import { REPOSITORY, startSandbox } from '../../../.config/sandbox.ts';

const noPhp = spawnSync('php', ['--version']).error === undefined ? undefined : 'php is not installed';

test('the programs of the guide to PHP print what it shows', async ({ skip }) => {
  if (noPhp !== undefined) skip(noPhp);
  const blocks = blocksOf(join(REPOSITORY, 'apps/docs/site/guides/php.md'));
  const [library = '', ...program] = blocks.filter(({ language }) => language === 'php').map(({ code }) => code);
  const folder = mkdtempSync(join(tmpdir(), 'php-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'reseller.php'), library);
  writeFileSync(join(folder, 'buy.php'), program.join('\n'));
  const sandbox = await startSandbox();
  onTestFinished(() => sandbox.stop());
  const { stdout } = await promisify(execFile)('php', ['-d', 'error_reporting=-1', 'buy.php'], {
    cwd: folder,
    env: { ...sandbox.environment, RESELLER_BASE_URL: sandbox.baseUrl },
  });
  // PHP prints its warnings and deprecations to the same stream.
  expect(stdout).not.toMatch(/Warning|Notice|Deprecated/);
  expect(stdout).toMatch(shownOutput(blocks, (text) => text));
});
