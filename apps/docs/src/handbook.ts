/** The handbook of the operator, from the documents of the repository. */
import { readFile } from 'node:fs/promises';

import { escapeVue } from './markdown.ts';

const ROOT = new URL('../../../', import.meta.url);

/** The pages in `operator/`, with the documents that they show. */
export const HANDBOOK = [
  { name: 'handbook', title: 'Install, back up, restore, upgrade', source: 'packages/service/OPERATIONS.md' },
  { name: 'process', title: 'Variables, move, several instances', source: 'apps/server/README.md' },
] as const;

/** A document as a page. A link to another page of the handbook leads there, and a link to a file of the repository becomes its text. */
export async function handbookPage({ title, source }: (typeof HANDBOOK)[number]): Promise<string> {
  const text = (await readFile(new URL(source, ROOT), 'utf8')).replace(/^# .*/, `# ${title}`);
  return escapeVue(text).replaceAll(/\[([^\]]+)\]\((?!https?:|#)([^)#]+)(#[^)]*)?\)/g, (_, words: string, path: string, anchor = '') => {
    const page = HANDBOOK.find((other) => new URL(path, new URL(source, ROOT)).pathname === new URL(other.source, ROOT).pathname);
    return page === undefined ? words : `[${page.title}](./${page.name}.md${anchor})`;
  });
}
