/** The packages that are published, each after those that it depends on. */
import { join } from 'node:path';

import { REPOSITORY } from '../turbo.ts';

export const PUBLISHED = [
  'openapi',
  'packages/client',
  'packages/operator-client',
  'packages/testing',
  'packages/contract',
  'packages/adapters',
  'apps/mock',
  'apps/sandbox',
  'apps/cli',
] as const;

/** Where `pack:all` puts the tarballs. */
export const TARBALLS = join(REPOSITORY, 'dist/packages');
