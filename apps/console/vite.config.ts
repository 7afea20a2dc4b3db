import { defineConfig } from 'vite';

import { BASE } from './src/site.ts';

export default defineConfig({
  base: BASE,
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
