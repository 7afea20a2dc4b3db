import { defineConfig } from '@hey-api/openapi-ts';

import { configOf } from './generate/config.ts';

/** The specification and the extension together, for `@reseller/client/extension`. */
export default defineConfig(configOf('service', 'extension'));
