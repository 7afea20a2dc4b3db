import { defineConfig } from '@hey-api/openapi-ts';

import { addedOperations, configOf, readDocument } from './generate/config.ts';

/** The second configuration is that of `@reseller/client/extension`, which has what it adds to the specification. */
export default defineConfig([
  configOf('openapi', ''),
  configOf('service', 'extension', addedOperations(readDocument('openapi'), readDocument('service'))),
]);
