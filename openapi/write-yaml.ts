/** Writes the bundles as YAML, for people who download the package. Run before it is packed; nothing in this repository reads them. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { stringify } from 'yaml';

const GENERATED = join(import.meta.dirname, 'generated');

for (const name of ['openapi', 'service', 'operator']) {
  const document: unknown = JSON.parse(readFileSync(join(GENERATED, `${name}.json`), 'utf8'));
  writeFileSync(join(GENERATED, `${name}.yaml`), stringify(document, { aliasDuplicateObjects: false, lineWidth: 0 }));
}
