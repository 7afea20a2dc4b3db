/** The shell of the site. `src/build.ts` writes its pages to `site/.pages/` and runs VitePress. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { defineConfig } from 'vitepress';
import type { MarkdownRenderer } from 'vitepress';

import { describeSite } from '../../../../.config/publish/licenses.ts';
import type { Navigation } from '../../src/navigation.ts';
import { OPERATOR_SECTION } from '../../src/references.ts';
import { SEARCH_WORDS } from '../../src/search-words.ts';
import { BASE } from '../../src/site.ts';
import manifest from '../package.json' with { type: 'json' };

function absolutePath(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}

const navigations: Record<string, Navigation> = JSON.parse(readFileSync(absolutePath('../.pages/navigation.json'), 'utf8'));

/** Longer names may break, where the browser allows it. */
const NAME = /^[\w.[\]-]{1,30}$/;

/** Gives code that is a name a class, with which the styles keep it on one line. */
function keepNamesWhole(md: MarkdownRenderer): void {
  const { code_inline: render } = md.renderer.rules;
  md.renderer.rules.code_inline = (tokens, index, ...others) => {
    const token = tokens[index];
    if (token !== undefined && NAME.test(token.content)) token.attrJoin('class', 'name');
    return render?.(tokens, index, ...others) ?? '';
  };
}

/** Gives each cell of a table the heading of its column, which a phone shows above the cell. */
function labelCells(md: MarkdownRenderer): void {
  md.core.ruler.push('label-cells', ({ tokens }) => {
    let headings: string[] = [];
    let column = 0;
    for (const [index, token] of tokens.entries()) {
      if (token.type === 'thead_open') headings = [];
      if (token.type === 'th_open') headings.push(tokens[index + 1]?.content ?? '');
      if (token.type === 'tr_open') column = 0;
      if (token.type === 'td_open') token.attrSet('data-label', headings[column++] ?? '');
    }
  });
}

/** The samples repeat the names in the tables, in five languages. */
const SAMPLES = /<h2[^>]*id="samples"[^]*?(?=<h2|$)/;
const EXAMPLE_SECTIONS = /<h3[^>]*>Example[^]*?(?=<h[23]|$)/g;

export default defineConfig({
  title: 'Reseller Infrastructure Service API',
  titleTemplate: ':title · Reseller API',
  description: 'Virtual servers, dedicated servers and domains for resellers: documentation, reference and guides.',
  lang: 'en-GB',
  // Sections, each with its navigation and its search.
  locales: {
    root: { label: 'Reseller API', lang: 'en-GB' },
    [OPERATOR_SECTION]: {
      label: 'Operator API',
      lang: 'en-GB',
      titleTemplate: ':title · Operator API',
      themeConfig: { siteTitle: 'Operator API', ...navigations[`${OPERATOR_SECTION}/`] },
    },
  },
  base: BASE,
  cleanUrls: true,
  srcDir: '.pages',
  // A part of the landing page.
  srcExclude: ['hero-sample.md'],
  outDir: '../dist',
  cacheDir: '.pages/.cache',
  metaChunk: true,
  head: [
    ['link', { rel: 'icon', href: `${BASE}icon.svg`, type: 'image/svg+xml' }],
    // A service that serves the site returns its own version of this file, with its addresses.
    ['script', { src: `${BASE}own-servers.js` }],
  ],
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    // VitePress renders each page three times: for the server, the client and the search. Highlighting is most of that work.
    config(md) {
      keepNamesWhole(md);
      labelCells(md);
      const { highlight } = md.options;
      if (!highlight) return;
      const known = new Map<string, string>();
      md.options.highlight = (code, language, attributes) => {
        const key = `${language} ${attributes} ${code}`;
        const html = known.get(key) ?? highlight(code, language, attributes);
        known.set(key, html);
        return html;
      };
    },
  },
  // VitePress marks the main content of all pages but this one.
  transformHtml: (code, _id, { page }) =>
    page === 'index.md' ? code.replace('<div class="VPContent is-home"', '<div role="main" class="VPContent is-home"') : undefined,
  vite: {
    plugins: [describeSite(manifest, absolutePath('..'), [absolutePath('../node_modules/redoc/bundles/redoc.standalone.js')])],
    publicDir: absolutePath('../public'),
    build: { chunkSizeWarningLimit: 2_000 },
    // The esbuild of VitePress does not know the target of tsconfig.base.json.
    esbuild: { target: 'es2022', tsconfigRaw: {} },
  },
  themeConfig: {
    siteTitle: 'Reseller API',
    logo: '/icon.svg',
    ...navigations[''],
    // The pages of the sections do not correspond.
    i18nRouting: false,
    outline: { level: [2, 3] },
    search: {
      provider: 'local',
      options: {
        locales: {
          [OPERATOR_SECTION]: { translations: { button: { buttonText: 'Search operator API', buttonAriaLabel: 'Search operator API' } } },
        },
        // An operation is one result, not one for each heading of its page. Otherwise the results of a few operations would hide the others,
        // because the search shows only the first results. Examples are left out: they repeat the names in the tables. This runs during the
        // build only.
        _render(source, env, md) {
          const html = md.render(source, env);
          const operation: unknown = env.frontmatter?.['operation'];
          if (typeof operation !== 'string') return html;
          return html
            .replace(SAMPLES, '')
            .replace(EXAMPLE_SECTIONS, '')
            .replaceAll(/<(\/?)h[2-6][^>]*>/g, '<$1p>')
            .replace(/<h1[^>]*>[^<]*/, (heading) => `${heading.trimEnd()} ${operation} `)
            .concat(`<p>${SEARCH_WORDS[operation] ?? ''}</p>`);
        },
        miniSearch: {
          // No functions here: the page would have to evaluate their text, which its Content-Security-Policy forbids. The theme adds the filter.
          searchOptions: { fuzzy: 0.15, prefix: true, boost: { title: 6, text: 2, titles: 1 } },
        },
      },
    },
    notFound: {
      title: 'Page not found',
      quote: 'It may have moved. Search for a word of its title, or begin at the start.',
      linkText: 'Start page',
      linkLabel: 'Go to the start page',
    },
    docFooter: { prev: 'Previous', next: 'Next' },
  },
});
