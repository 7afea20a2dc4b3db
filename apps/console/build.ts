/** Builds the page into `console-dist`, with compressed copies of its files, which the server sends. */
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';

import { build } from 'vite';

import { consoleDirectory } from './src/site.ts';

/** Small files are not worth another file. */
const MIN_COMPRESSED_BYTES = 1_000;

// A server may show the page while it is built, so the new folder replaces the old one at once.
const fresh = `${consoleDirectory.replace(/\/$/, '')}-${process.pid}`;
await build({ root: import.meta.dirname, build: { outDir: fresh } });
for (const entry of readdirSync(fresh, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile()) continue;
  const path = join(entry.parentPath, entry.name);
  const content = readFileSync(path);
  if (content.length < MIN_COMPRESSED_BYTES) continue;
  writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }));
  writeFileSync(`${path}.br`, brotliCompressSync(content));
}
if (existsSync(consoleDirectory)) rmSync(consoleDirectory, { recursive: true });
renameSync(fresh, consoleDirectory);
