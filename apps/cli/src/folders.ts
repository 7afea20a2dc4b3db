/** Where the program keeps its files. */
import { resolve } from 'node:path';

import envPaths from 'env-paths';

/** Profiles, and keys if the system has no keyring. `RESELLER_CONFIG_DIR` replaces it. */
export function configFolder(env: NodeJS.ProcessEnv): string {
  return resolve(env['RESELLER_CONFIG_DIR'] || envPaths('reseller', { suffix: '' }).config);
}

/** Purchases whose outcome is not known yet. `RESELLER_STATE_DIR` replaces it. */
export function stateFolder(env: NodeJS.ProcessEnv): string {
  return resolve(env['RESELLER_STATE_DIR'] || envPaths('reseller', { suffix: '' }).data);
}
