import { pathToFileURL } from 'node:url';

import { defineConfig } from 'vite';
import type { Plugin } from 'vite';

import { BASE } from './src/site.ts';

/** Runs modules `*.data.ts` at build. The page gets the values of their exports, and not the documents from which they are derived. */
const data: Plugin = {
  name: 'data',
  enforce: 'pre',
  async load(id) {
    if (!id.endsWith('.data.ts')) return undefined;
    const exported: Readonly<Record<string, unknown>> = await import(pathToFileURL(id).href);
    return Object.entries(exported)
      .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`)
      .join('\n');
  },
};

export default defineConfig({
  base: BASE,
  plugins: [data],
  // Warnings are about directives of React's servers.
  logLevel: 'error',
  build: {
    outDir: 'console-dist',
    emptyOutDir: true,
    // A data URL would be an inline style or script.
    assetsInlineLimit: 0,
    license: { fileName: 'THIRD-PARTY-LICENSES.md' },
    // The preload helper would be an inline script in old browsers.
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
