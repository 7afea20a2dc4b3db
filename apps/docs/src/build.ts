import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { type Page, pages } from './pages.ts';
import { redocOptions, systemFont } from './redoc-options.ts';
import { siteDirectory } from './site.ts';

/** The only address that Redoc itself loads from: the small logo next to "API docs by Redocly". */
const redocLogo = 'https://cdn.redoc.ly/redoc/logo-mini.svg';

try {
  await rm(siteDirectory, { recursive: true, force: true });
  await mkdir(siteDirectory, { recursive: true });
  await copyRedoc();
  // A service that serves the site returns its own version of this file, with its addresses.
  await writeFile(join(siteDirectory, 'own-servers.js'), 'globalThis.ownServers = {};\n');
  await copyFile(new URL('with-own-server.js', import.meta.url), join(siteDirectory, 'with-own-server.js'));
  const titles = new Map<string, string>();
  for (const { name, bundle } of pages) titles.set(name, documentOf(await readBundle(`${bundle}.json`)).info.title);
  for (const page of pages) await buildPage(page, titles);
  process.stdout.write(`Built ${pages.map((page) => `${page.name}.html`).join(', ')} in apps/docs/dist\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

async function copyRedoc(): Promise<void> {
  const source = pathOf('redoc/bundles/redoc.standalone.js');
  const parts = (await readFile(source, 'utf8')).split(redocLogo);
  if (parts.length !== 2) {
    throw new Error(
      `The URL ${redocLogo} occurs in this version of Redoc ${parts.length - 1} times instead of once, so the page might load it. Check how Redoc shows its logo now, and correct apps/docs/src/build.ts.`,
    );
  }
  // Redoc omits a logo that it cannot load, such as an empty image.
  await writeFile(join(siteDirectory, 'redoc.standalone.js'), parts.join('data:,'));
  await copyFile(`${source}.LICENSE.txt`, join(siteDirectory, 'redoc.standalone.js.LICENSE.txt'));
}

async function buildPage({ name, bundle }: Page, titles: ReadonlyMap<string, string>): Promise<void> {
  const json = await readBundle(`${bundle}.json`);
  await writeFile(join(siteDirectory, `${name}.json`), json);
  await writeFile(join(siteDirectory, `${name}.yaml`), await readBundle(`${bundle}.yaml`));
  const downloads = [
    { title: 'YAML', url: `${name}.yaml` },
    { title: 'JSON', url: `${name}.json` },
  ];
  // The script contains the document instead of fetching it, so that the page also opens from a folder (file://).
  await writeFile(
    join(siteDirectory, `${name}.js`),
    `Redoc.init(withOwnServer(${json.trim()}, ${JSON.stringify(name)}), ${JSON.stringify({ ...redocOptions, downloadUrls: downloads })}, document.getElementById('redoc'));\n`,
  );
  await writeFile(join(siteDirectory, `${name}.html`), htmlOf(name, documentOf(json), titles));
}

interface Described {
  readonly info: { readonly title: string; readonly summary?: string };
}

function documentOf(json: string): Described {
  return JSON.parse(json);
}

async function readBundle(specifier: string): Promise<string> {
  try {
    return await readFile(pathOf(specifier), 'utf8');
  } catch {
    throw new Error(`The bundle ${specifier} is missing. Build it: npx pnpm@12 build`);
  }
}

function htmlOf(name: string, { info }: Described, titles: ReadonlyMap<string, string>): string {
  const links = [...titles].map(
    ([page, title]) => `<a href="${page}.html"${page === name ? ' aria-current="page"' : ''}>${escapeHtml(title)}</a>`,
  );
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${escapeHtml(info.title)}</title>
    <meta name="description" content="${escapeHtml(info.summary ?? info.title)}">
    <link rel="icon" href="data:,">
    <style>
      body { margin: 0 }
      nav { display: flex; flex-wrap: wrap; gap: 0.5rem 2rem; padding: 0.75rem 1.25rem; font: 0.875rem ${systemFont}; border-bottom: 1px solid #ddd }
      nav a { color: inherit; text-decoration: none }
      nav a:hover { text-decoration: underline }
      nav a[aria-current] { font-weight: bold }
    </style>
  </head>
  <body>
    <nav aria-label="Documents">${links.join(' ')}</nav>
    <div id="redoc"><noscript>This page needs JavaScript. Download the document: <a href="${name}.yaml">YAML</a>, <a href="${name}.json">JSON</a>.</noscript></div>
    <script src="redoc.standalone.js"></script>
    <script src="own-servers.js"></script>
    <script src="with-own-server.js"></script>
    <script src="${name}.js"></script>
  </body>
</html>
`;
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

function pathOf(specifier: string): string {
  return fileURLToPath(import.meta.resolve(specifier));
}
