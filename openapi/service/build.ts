/** Writes service.yaml and service.json: the bundle of the specification and the extension together. Run by the script `build`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { parse, stringify } from 'yaml';

import { isFields } from '../lint/nodes.ts';
import type { Fields } from '../lint/nodes.ts';
import { mergeDocuments } from './merge.ts';
import { overlayActions } from './overlay.ts';

const FOLDER = join(import.meta.dirname, '..');

const service = mergeDocuments(
  readBundle('openapi'),
  readBundle('extension'),
  overlayActions(parse(readFileSync(join(FOLDER, 'service/overlay.yaml'), 'utf8'))),
);
writeFileSync(join(FOLDER, 'dist/service.json'), `${JSON.stringify(service, null, 2)}\n`);
writeFileSync(join(FOLDER, 'dist/service.yaml'), stringify(service, { aliasDuplicateObjects: false, lineWidth: 0 }));

function readBundle(name: string): Fields {
  const document: unknown = JSON.parse(readFileSync(join(FOLDER, `dist/${name}.json`), 'utf8'));
  if (!isFields(document)) throw new Error(`dist/${name}.json is not an OpenAPI document.`);
  return document;
}
