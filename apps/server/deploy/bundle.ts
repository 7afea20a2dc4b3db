/**
 * Builds the JavaScript of a production installation: one bundle of the process and its commands, because Node does not strip the types of
 * TypeScript below node_modules, where `pnpm deploy` puts the packages of the workspace.
 */
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

import { siteDirectory } from '@reseller/docs';

import { describeBundle } from '../../../.config/publish/licenses.ts';
import { sbomOf } from '../../../.config/publish/sbom.ts';
import { REPOSITORY, turbo } from '../../../.config/turbo.ts';
import consoleManifest from '../../console/package.json' with { type: 'json' };
import { consoleDirectory } from '../src/console-site.ts';
import manifest from './package.json' with { type: 'json' };
import { bundleServer, copyFontFiles } from './server-bundle.ts';

const DIST = join(import.meta.dirname, 'dist');
/** As deep as in the repository, so that the code finds the site and the root by the same relative paths. */
const SERVER = join(DIST, 'server');

process.stdout.write('Building the documentation, the console and the service. This takes a minute or two.\n');
const { status } = turbo(['run', 'build', '--filter=@reseller/docs', '--filter=@reseller/console', '--output-logs=errors-only'], 'inherit');
if (status === 0) {
  rmSync(DIST, { recursive: true, force: true });
  const { inputs, folder } = await bundleServer(join(SERVER, 'src'));
  const fonts = copyFontFiles(join(SERVER, 'src'));
  describeBundle(DIST, manifest, [...inputs, ...fonts.map((file) => relative(folder, file))], folder);
  cpSync(siteDirectory, join(SERVER, 'dist'), { recursive: true });
  cpSync(consoleDirectory, join(SERVER, 'console-dist'), { recursive: true });
  writeFileSync(join(SERVER, 'console-dist/sbom.cdx.json'), sbomOf(consoleManifest));
  process.stdout.write(
    `The bundle of the service is in ${relative(REPOSITORY, DIST)}. Install it with its packages: npx -y pnpm@12 --filter @reseller/installation deploy --prod /opt/reseller\n`,
  );
} else process.exitCode = status;
