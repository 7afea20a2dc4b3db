/** Bundles the process and its commands into JavaScript. */
import { cpSync } from 'node:fs';
import { join, relative } from 'node:path';

import { copyNovncFiles } from '@reseller/service/novnc-files';
import { build } from 'esbuild';
import type { BuildOptions } from 'esbuild';

export { copyFontFiles } from '@reseller/service/font-files';
export { consoleDirectory } from '../src/console-site.ts';

const PACKAGE = join(import.meta.dirname, '..');
const COMMANDS = ['reseller-server', 'main', 'move', 'backup', 'restore', 'migrate', 'reseal', 'verify-audit'];
/** Separate files, because the service starts them as threads. */
const WORKERS = {
  'render-worker': join(PACKAGE, '../../packages/service/src/core/accounting/invoice-document/render-worker.ts'),
  'checkpoint-worker': join(PACKAGE, '../../packages/service/src/store/sqlite/checkpoint-worker.ts'),
};

const OPTIONS = {
  bundle: true,
  splitting: true,
  platform: 'node',
  format: 'esm',
  logLevel: 'warning',
  // They read files next to them. The driver of PostgreSQL works without its native part.
  external: ['pdfkit', 'dejavu-fonts-ttf', 'pg-native'],
  // Dependencies in CommonJS require modules of Node.
  banner: {
    js: "import { createRequire as createRequireOfNode } from 'node:module'; const require = createRequireOfNode(import.meta.url);",
  },
} satisfies BuildOptions;

/**
 * Writes a bundle into a folder below this package, where it finds the dependencies that are not in it. It expects the site in `../dist`.
 */
export async function bundleServer(outdir: string): Promise<Bundled> {
  return bundlePrograms(outdir, Object.fromEntries(COMMANDS.map((name) => [name, join(PACKAGE, 'src', `${name}.ts`)])));
}

/** The files that a bundle consists of, relative to a folder. */
export interface Bundled {
  readonly inputs: readonly string[];
  readonly folder: string;
}

/**
 * @param programs Sources by the names of their bundles. Each may start the service.
 * @param target The oldest Node on which they run.
 */
export async function bundlePrograms(outdir: string, programs: Readonly<Record<string, string>>, target = 'node24'): Promise<Bundled> {
  const entryPoints = { ...programs, ...WORKERS };
  const { metafile } = await build({ ...OPTIONS, target, outdir, entryPoints, metafile: true, absWorkingDir: PACKAGE });
  // The scripts of the test image of QEMU.
  cpSync(join(PACKAGE, '../../packages/adapters/image'), join(outdir, 'image'), { recursive: true });
  const copied = copyNovncFiles(outdir).map((file) => relative(PACKAGE, file));
  return { inputs: [...Object.keys(metafile.inputs), ...copied], folder: PACKAGE };
}
