import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { parse, stringify } from 'yaml';

import { isFields } from '../lint/nodes.ts';
import type { Fields } from '../lint/nodes.ts';
import { mergeDocuments } from './merge.ts';
import { overlayActions } from './overlay.ts';

/** Writes service.yaml and service.json: the bundle of the specification and the extension together. Reads their bundles in the same folder. */
export function writeService(folder: string): void {
  const overlay = parse(readFileSync(join(import.meta.dirname, 'overlay.yaml'), 'utf8'));
  const service = mergeDocuments(readBundle(folder, 'openapi'), readBundle(folder, 'extension'), overlayActions(overlay));
  writeFileSync(join(folder, 'service.json'), `${JSON.stringify(service, null, 2)}\n`);
  writeFileSync(join(folder, 'service.yaml'), stringify(service, { aliasDuplicateObjects: false, lineWidth: 0 }));
}

function readBundle(folder: string, name: string): Fields {
  const document: unknown = JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'));
  if (!isFields(document)) throw new Error(`${name}.json is not an OpenAPI document.`);
  return document;
}
