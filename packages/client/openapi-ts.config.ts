import { defineConfig } from '@hey-api/openapi-ts';

import { configOf } from './generate/config.ts';

export default defineConfig(configOf('openapi', ''));
