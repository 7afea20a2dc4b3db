/** What depends on how the program is installed: in a clone of the repository, or from the published package. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

import manifest from '@reseller/contract/package.json' with { type: 'json' };
import envPaths from 'env-paths';

const REPOSITORY = resolve(import.meta.dirname, '../../..');

const isReleased = manifest.version !== '0.0.0';
export const isClone = existsSync(join(REPOSITORY, 'pnpm-workspace.yaml'));

/** The command lines that messages name. Before the first release, there are only tarballs. */
export const CONTRACT = isClone ? 'npx -y pnpm@12 contract' : isReleased ? 'npx @reseller/contract' : 'contract';
const SANDBOX = isReleased ? 'npx @reseller/sandbox' : 'npx --package ./reseller-sandbox-*.tgz reseller-sandbox';
export const START_SANDBOX = isClone ? 'npx -y pnpm@12 start' : SANDBOX;

/** The folder of the journal: that of the clone, else the user's data folder for this program, or CONTRACT_DATA_DIR. */
export function journalFolder(environment: Readonly<Record<string, string | undefined>>): string {
  const given = environment['CONTRACT_DATA_DIR'];
  if (given) return resolve(given);
  return isClone ? dataFolder(environment) : envPaths('contract-tests', { suffix: '' }).data;
}

/** The data folder of the sandbox on this machine. */
export function dataFolder(environment: Readonly<Record<string, string | undefined>>): string {
  const given = environment['RESELLER_DATA_DIR'];
  if (isClone) return resolve(REPOSITORY, given || '.data');
  return resolve(given || envPaths('reseller-sandbox', { suffix: '' }).data);
}
