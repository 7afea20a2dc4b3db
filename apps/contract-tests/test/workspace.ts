import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { onTestFinished } from 'vitest';
import { isMap, parseDocument, visit } from 'yaml';

const OPENAPI = dirname(fileURLToPath(import.meta.resolve('@reseller/openapi/package.json')));

/** Creates a folder that is removed after the test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'contract-test-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * Copies the sources of the specification, so that a test can change them: those of the document without the parts that are marked as the
 * extension. Returns the root file.
 */
export async function copyOfSources(into?: string): Promise<string> {
  const folder = into ?? (await temporaryFolder());
  for (const name of await readdir(OPENAPI)) {
    if (name.endsWith('.yaml')) await writeFile(join(folder, name), specificationIn(await readFile(join(OPENAPI, name), 'utf8')));
    else if (name.endsWith('.md')) await cp(join(OPENAPI, name), join(folder, name));
  }
  // A link, so that a process loads the lint rules once for all copies.
  await symlink(join(OPENAPI, 'lint'), join(folder, 'lint'));
  return join(folder, 'openapi.yaml');
}

function specificationIn(text: string): string {
  const document = parseDocument(text);
  function isExtension(node: unknown): boolean {
    // The response to a price guard is marked at its definition.
    return isMap(node) && (node.get('x-origin') === 'extension' || String(node.get('$ref')).endsWith('/PriceTooHigh'));
  }
  visit(document, {
    Map: (key, node) => (typeof key === 'number' && isExtension(node) ? visit.REMOVE : undefined),
    Pair: (_, { value }) => (isExtension(value) ? visit.REMOVE : undefined),
  });
  return document.toString({ lineWidth: 0, flowCollectionPadding: false });
}
