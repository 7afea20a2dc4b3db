import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const OPENAPI = dirname(fileURLToPath(import.meta.resolve('@reseller/openapi/package.json')));

/** A folder that is gone after the test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'contract-test-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A copy of the document's sources that a test may change; its root file. */
export async function copyOfSources(): Promise<string> {
  const folder = await temporaryFolder();
  for (const part of ['openapi.yaml', 'description.md', 'paths', 'components'])
    await cp(join(OPENAPI, part), join(folder, part), { recursive: true });
  return join(folder, 'openapi.yaml');
}
