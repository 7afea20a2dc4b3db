import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { isFields } from '../lint/nodes.ts';
import { notShownTable } from './table.ts';

/** Writes NOT-SHOWN.md. Reads the bundle of the specification in the same folder. */
export function writeNotShown(folder: string): void {
  const document: unknown = JSON.parse(readFileSync(join(folder, 'openapi.json'), 'utf8'));
  if (!isFields(document)) throw new Error('openapi.json is not an OpenAPI document.');
  writeFileSync(join(folder, 'NOT-SHOWN.md'), notShownTable(document));
}
