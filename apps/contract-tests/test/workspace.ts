import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { onTestFinished } from 'vitest';

const OPENAPI = dirname(fileURLToPath(import.meta.resolve('@reseller/openapi/package.json')));

/** Creates a folder that is removed after the test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'contract-test-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Copies the sources of the document, so that a test can change them. Returns the root file. */
export async function copyOfSources(into?: string): Promise<string> {
  const folder = into ?? (await temporaryFolder());
  for (const part of ['openapi.yaml', 'description.md', 'paths', 'components', 'redocly.yaml', 'EXTENSIONS.md'])
    await cp(join(OPENAPI, part), join(folder, part), { recursive: true });
  // A link, so that a process loads the lint rules once for all copies.
  await symlink(join(OPENAPI, 'lint'), join(folder, 'lint'));
  return join(folder, 'openapi.yaml');
}
