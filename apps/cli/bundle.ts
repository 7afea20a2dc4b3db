import { join } from 'node:path';

import { build } from 'esbuild';

/** The packages that are not in the bundle: one without a licence text, and one with native code, which does not exist for all systems. */
export const INSTALLED = { always: ['@bomb.sh/tab'], ifPossible: ['@napi-rs/keyring'] } as const;

/** Bundles the program, except for packages that npm installs with it. @returns the files with code in the bundle, relative to this folder */
export async function bundle(outdir: string): Promise<readonly string[]> {
  const { metafile } = await build({
    entryPoints: { main: join(import.meta.dirname, 'src/main.ts') },
    outdir,
    bundle: true,
    splitting: true,
    minifySyntax: true,
    platform: 'node',
    format: 'esm',
    target: 'node22',
    metafile: true,
    absWorkingDir: import.meta.dirname,
    logLevel: 'warning',
    external: [...INSTALLED.always, ...INSTALLED.ifPossible],
    // Dependencies in CommonJS require modules of Node.
    banner: {
      js: "import { createRequire as createRequireOfNode } from 'node:module'; const require = createRequireOfNode(import.meta.url);",
    },
  });
  return Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs).filter((input) => inputs[input]?.bytesInOutput !== 0));
}
