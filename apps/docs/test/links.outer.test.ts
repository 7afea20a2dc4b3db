/** Every link within the site leads to a file and, if it has an anchor, to a heading there. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { expect, test } from 'vitest';

import { BASE, siteDirectory } from '../src/site.ts';

const pages = globSync('**/*.html', { cwd: siteDirectory });
const ids = new Map(pages.map((page) => [page, new Set([...read(page).matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id))]));

test('pages link to pages and headings that exist', () => {
  expect(pages.length).toBeGreaterThan(90);
  const broken = pages.flatMap((page) =>
    [...read(page).matchAll(/<a [^>]*href="([^"]+)"/g)]
      .map(([, href = '']) => href)
      .filter((href) => !/^(?:https?:|mailto:|#\/)/.test(href) && !isSound(page, href))
      .map((href) => `${page}: ${href}`),
  );
  expect([...new Set(broken)]).toEqual([]);
});

test('the Markdown files link to files that exist', () => {
  const files = globSync(['**/*.md', 'llms.txt'], { cwd: siteDirectory });
  expect(files.length).toBeGreaterThan(90);
  const broken = files.flatMap((file) =>
    [...read(file).matchAll(/\]\((?!https?:)([^)#\s]+)/g)]
      .map(([, href = '']) => href)
      .filter((href) => !hasPage(href.startsWith('/') ? href.slice(1) : join(dirname(file), href)))
      .map((href) => `${file}: ${href}`),
  );
  expect(broken).toEqual([]);
});

function isSound(from: string, href: string): boolean {
  const [path = '', anchor] = href.split('#');
  const target = path === '' ? from : path.startsWith('/') ? path.slice(BASE.length) : join(dirname(from), path);
  const file = target === '' || target.endsWith('/') ? `${target}index.html` : target;
  const page = existsSync(join(siteDirectory, file)) ? file : `${file}.html`;
  if (!existsSync(join(siteDirectory, page))) return false;
  // An anchor that begins with a slash is a place within a Redoc page.
  return anchor === undefined || anchor === '' || anchor.startsWith('/') || (ids.get(page)?.has(decodeURIComponent(anchor)) ?? false);
}

function hasPage(path: string): boolean {
  return [path, path.replace(/\.md$/, '.html'), `${path}.html`, join(path, 'index.html')].some((file) =>
    existsSync(join(siteDirectory, file)),
  );
}

function read(file: string): string {
  return readFileSync(join(siteDirectory, file), 'utf8');
}
