/** Makes the functions of `openapi-ts` use `src/runtime/client.ts` instead of the client of `openapi-ts`. */
import { definePluginConfig } from '@hey-api/openapi-ts';
import type { DefinePlugin } from '@hey-api/openapi-ts';

type RuntimePlugin = DefinePlugin<{ name: string; bundle?: boolean }>;

/** The generated functions import `Client`, `Options` and so on from a module with this name: map it in `output.module.resolve`. */
export const RUNTIME_MODULE = 'runtime';

const defaults: RuntimePlugin['Config'] = { config: { bundle: false }, handler: () => {}, name: RUNTIME_MODULE, tags: ['client'] };

export const runtime = definePluginConfig(defaults);
