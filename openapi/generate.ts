/**
 * Writes the bundles into `generated`. They are committed, so that the service starts without the tools that bundle.
 * Run by the script `generate`. `generate:check` writes elsewhere and compares.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { entriesOf, isFields } from './lint/nodes.ts';
import type { Fields } from './lint/nodes.ts';

const REDOCLY = join(import.meta.dirname, 'node_modules/@redocly/cli/bin/cli.js');
const DOCUMENTS = ['openapi', 'service', 'operator'];

const into = process.env['GENERATE_INTO'] ?? join(import.meta.dirname, 'generated');
const made = mkdtempSync(join(tmpdir(), 'bundles-'));
try {
  for (const name of DOCUMENTS) {
    const file = join(made, `${name}.json`);
    // One at a time, because two of them have the same root, which would name their bundles.
    const given = ['bundle', name, '--output', file, '--component-renaming-conflicts-severity=error'];
    const { status, stdout, stderr } = spawnSync(process.execPath, [REDOCLY, ...given], { cwd: import.meta.dirname, encoding: 'utf8' });
    if (status !== 0) throw new Error(`${name} could not be bundled.\n${stdout}${stderr}`);
    const document: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (!isFields(document)) throw new Error(`${name} is not an OpenAPI document.`);
    writeFileSync(join(into, `${name}.json`), bundleText(withoutEmptyParts(name === 'service' ? withExtensionText(document) : document)));
  }
} finally {
  rmSync(made, { recursive: true });
}

/** The description of the whole also has that of the extension. */
function withExtensionText(document: Fields): Fields {
  const info = Object(document['info']);
  const extension = readFileSync(join(import.meta.dirname, 'extension.md'), 'utf8');
  return { ...document, info: { ...info, description: `${String(info.description).trim()}\n\n${extension.trim()}` } };
}

/** The bundle without parts that have nothing left, such as the webhooks of the specification. */
function withoutEmptyParts(document: Fields): Fields {
  return Object.fromEntries(Object.entries(document).filter(([, value]) => !isFields(value) || Object.keys(value).length > 0));
}

/** JSON with a line for each operation, component and other part, so that the change of one is the change of its line. */
function bundleText(document: Fields): string {
  const parts = Object.entries(document).map(([key, value]) => {
    if (key === 'components') return `"components": {\n${lines(value, (kind) => `{\n${lines(kind)}\n}`)}\n}`;
    if (key === 'paths') return `"paths": {\n${lines(value, (path) => `{\n${lines(path)}\n}`)}\n}`;
    return `${JSON.stringify(key)}: ${JSON.stringify(value)}`;
  });
  return `{\n${parts.join(',\n')}\n}\n`;
}

function lines(value: unknown, text: (member: unknown) => string = (member) => JSON.stringify(member)): string {
  return entriesOf(value)
    .map(([key, member]) => `${JSON.stringify(key)}: ${text(member)}`)
    .join(',\n');
}
