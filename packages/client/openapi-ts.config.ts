import { defineConfig } from '@hey-api/openapi-ts';

import { configOf } from './generate/config.ts';

/** The second configuration is that of `@reseller/client/extension`. */
export default defineConfig([configOf('openapi', ''), configOf('service', 'extension')]);
