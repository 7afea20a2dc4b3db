import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of VitePress: hand-written pages, theme and configuration. Its packages are installed separately. */
export const SITE = fileURLToPath(new URL('../site/', import.meta.url));

/** Renders the pages. It prints only if it fails. */
export function runVitePress(): void {
  const program = join(SITE, 'node_modules/vitepress/bin/vitepress.js');
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'build', SITE], { cwd: SITE, encoding: 'utf8' });
  rmSync(join(SITE, '.vitepress/.temp'), { recursive: true, force: true });
  if (status !== 0) throw new Error(`VitePress could not build the site:\n${stdout}${stderr}`);
}
