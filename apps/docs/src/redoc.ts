import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { SITE } from './vitepress.ts';

/** The addresses from which Redoc itself loads images: the logo next to "API docs by Redocly", small and large. */
const LOGOS = ['https://cdn.redoc.ly/redoc/logo-mini-full.svg', 'https://cdn.redoc.ly/redoc/logo-mini.svg'];

/** Copies the standalone bundle of Redoc, which contains everything that it needs, without the images that it loads from another host. */
export async function copyRedoc(into: string): Promise<void> {
  const source = join(SITE, 'node_modules/redoc/bundles/redoc.standalone.js');
  let code = await readFile(source, 'utf8');
  for (const logo of LOGOS) {
    const parts = code.split(logo);
    if (parts.length !== 2) {
      throw new Error(
        `The URL ${logo} occurs in this version of Redoc ${parts.length - 1} times instead of once, so the page might load it. Check how Redoc shows its logo now, and correct apps/docs/src/redoc.ts.`,
      );
    }
    // Redoc omits a logo that it cannot load, such as an empty image.
    code = parts.join('data:,');
  }
  await mkdir(into, { recursive: true });
  await writeFile(join(into, 'redoc.standalone.js'), code);
  await copyFile(join(dirname(source), '../LICENSE'), join(into, 'LICENSE'));
}
