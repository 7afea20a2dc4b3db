/** Pages of the site that are documents of the repository: the handbook of the operator, and the reference of the client. */
import { readFile } from 'node:fs/promises';

import { escapeVue } from './markdown.ts';

const ROOT = new URL('../../../', import.meta.url);

/** The pages in `operator/`, with the documents that they show. */
export const HANDBOOK = [
  { name: 'handbook', title: 'Install, back up, restore, upgrade', source: 'packages/service/OPERATIONS.md' },
  { name: 'process', title: 'Variables, move, several instances', source: 'apps/server/README.md' },
] as const;

/** The page in `guides/` for the reference of the client. */
export const CLIENT_PAGE = { name: 'typescript-client', title: 'The TypeScript client', source: 'packages/client/REFERENCE.md' } as const;

const GUIDES = new URL('apps/docs/site/guides/', ROOT);

/** A document as a page. A link to a page of the handbook or to a guide leads there, and a link to another file becomes its text. */
export async function documentPage({ title, source }: { readonly title: string; readonly source: string }): Promise<string> {
  const text = (await readFile(new URL(source, ROOT), 'utf8')).replace(/^# .*/, `# ${title}`);
  return escapeVue(text).replaceAll(/\[([^\]]+)\]\((?!https?:|#)([^)#]+)(#[^)]*)?\)/g, (_, words: string, path: string, anchor = '') => {
    const { href } = new URL(path, new URL(source, ROOT));
    if (href.startsWith(GUIDES.href)) return `[${words}](../guides/${href.slice(GUIDES.href.length)}${anchor})`;
    const page = HANDBOOK.find((other) => href === new URL(other.source, ROOT).href);
    return page === undefined ? words : `[${page.title}](./${page.name}.md${anchor})`;
  });
}
