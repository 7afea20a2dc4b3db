/** Makes the functions that `openapi-ts` writes run on `src/runtime/client.ts` instead of on its client. */
import { definePluginConfig } from '@hey-api/openapi-ts';
import type { DefinePlugin } from '@hey-api/openapi-ts';

type RuntimePlugin = DefinePlugin<{ name: string; bundle?: boolean }>;

/** The generated functions import `Client`, `Options` and so on from a module with this name: map it in `output.module.resolve`. */
export const RUNTIME_MODULE = 'runtime';

const defaults: RuntimePlugin['Config'] = { config: { bundle: false }, handler: () => {}, name: RUNTIME_MODULE, tags: ['client'] };

export const runtime = definePluginConfig(defaults);
