/** The last steps of the build, on the files that VitePress wrote. */
import { createHash } from 'node:crypto';
import { glob, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

import { BASE } from './site.ts';

const INLINE_SCRIPT = /<script(?<attributes>(?: (?!src=)[a-z-]+(?:="[^"]*")?)*)>(?<code>[^<][^]*?)<\/script>/g;

/** Moves scripts from the pages to files, because the Content-Security-Policy allows no script within a page. */
export async function moveInlineScripts(directory: string): Promise<void> {
  await mkdir(join(directory, 'assets'), { recursive: true });
  for await (const file of glob('**/*.html', { cwd: directory })) {
    const path = join(directory, file);
    const html = await readFile(path, 'utf8');
    const scripts = new Map<string, string>();
    const moved = html.replaceAll(INLINE_SCRIPT, (...match) => {
      const { attributes = '', code = '' }: { attributes?: string; code?: string } = match.at(-1);
      const name = `assets/inline.${createHash('sha256').update(code).digest('hex').slice(0, 12)}.js`;
      scripts.set(name, code);
      return `<script${attributes} src="${BASE}${name}"></script>`;
    });
    for (const [name, code] of scripts) await writeFile(join(directory, name), code);
    await writeFile(path, moved);
  }
}

const COMPRESSED = '**/*.{html,js,css,json,yaml,svg,md,txt}';

/** Compression does not make smaller files shorter. */
const MIN_COMPRESSED_BYTES = 1_024;

/** Also writes each text file as `.br` and `.gz`, so that servers need not compress it for each request. */
export async function compress(directory: string): Promise<void> {
  for await (const file of glob(COMPRESSED, { cwd: directory })) {
    const path = join(directory, file);
    const content = await readFile(path);
    // The service writes this file for each request.
    if (content.length < MIN_COMPRESSED_BYTES) continue;
    const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
    const [br, gz] = await Promise.all([promisify(brotliCompress)(content, { params }), promisify(gzip)(content, { level: 9 })]);
    await Promise.all([writeFile(`${path}.br`, br), writeFile(`${path}.gz`, gz)]);
  }
}
