/** The pages that are made from the documents. The other pages are in `site/`. */
import { readdir, readFile } from 'node:fs/promises';

import type { OpenApi } from './document.ts';
import { operationsOf } from './document.ts';
import { attribute } from './markdown.ts';
import { redocPath } from './operation-page.ts';
import { MARKS, markAt } from './provenance.ts';
import { isOfExtension, operationPath } from './references.ts';
import type { Reference } from './references.ts';
import { sandboxUrl } from './samples.ts';

export interface ReadDocument {
  readonly reference: Reference;
  readonly document: OpenApi;
}

/** The page in which Redoc shows a document. */
export function referencePage({ reference, document }: ReadDocument): string {
  const titles = Object.fromEntries(operationsOf(document).map((placed) => [redocPath(placed), placed.operation.summary]));
  return `---
title: Reference
description: ${JSON.stringify(document.info.summary ?? document.info.title)}
layout: page
sidebar: false
search: false
---

<noscript>

This page needs JavaScript. Without it, read the [operations](../${reference.operations}/), each on a page of its own, or download the document as
[YAML](../openapi/${reference.name}.yaml).

</noscript>

<ClientOnly><RedocReference name="${reference.name}" api="${reference.api}" sandbox="${sandboxUrl(document)}" :titles='${attribute(titles)}' /></ClientOnly>
`;
}

/** The path from the list of operations to the root of the site. */
const ROOT_OF_LIST = '../../';

/** The list of all operations of a document. */
export function operationList({ reference, document }: ReadDocument): string {
  const tags = document.tags.map(({ name, description }) => {
    const rows = operationsOf(document)
      .filter(({ operation }) => operation.tags[0] === name)
      .map(({ id, method, path, operation }) => {
        const badge = isOfExtension(operation) ? ` ${markAt(ROOT_OF_LIST)('extension')}` : '';
        return `| [${operation.summary}](${ROOT_OF_LIST}${operationPath(reference, operation)}.md) | \`${method} ${path}\`${badge} | \`${id}\` |`;
      });
    return `## ${name}\n\n${description}\n\n| operation | request | operationId |\n|---|---|---|\n${rows.join('\n')}`;
  });
  return `---
pageClass: operation-list
---

# ${reference.title}: operations

${document.info.summary ?? ''} Each operation has a page with its fields, samples and a form to try it. The [reference](../../${reference.page}) shows them all on one page.

${tags.join('\n\n')}
`;
}

const ROOT = new URL('../../../', import.meta.url);
const CHANGELOGS = ['client', 'testing'];

/** The changelogs of the published packages on one page, and the changes of the next version. */
export async function changelog(): Promise<string> {
  const released = await Promise.all(CHANGELOGS.map((name) => readFile(new URL(`packages/${name}/CHANGELOG.md`, ROOT), 'utf8')));
  const parts = [...(await nextChanges()), ...released.map((text) => text.replaceAll(/^(#+) /gm, '#$1 '))];
  return `# Changelog\n\nThe changes that users of the published packages notice.\n\n${parts.join('\n\n').replaceAll('{{', '&#123;&#123;')}`;
}

/** The changesets, which become the changelog of the next version. */
async function nextChanges(): Promise<string[]> {
  const folder = new URL('.changeset/', ROOT);
  const files = (await readdir(folder)).filter((name) => name.endsWith('.md') && name !== 'README.md');
  const changes = await Promise.all(
    files.toSorted().map(async (name) => {
      const [, front = '', text = ''] = (await readFile(new URL(name, folder), 'utf8')).split(/^---$/m);
      const [, changed = ''] = /'([^']+)'/.exec(front) ?? [];
      return `**${changed}**: ${text.trim()}`;
    }),
  );
  return changes.length === 0 ? [] : [`## Next version\n\n${changes.join('\n\n')}`];
}

/** The table of contents for language models (llmstxt.org). */
export function llmsTxt(documents: readonly ReadDocument[], guides: readonly { title: string; path: string }[]): string {
  const lists = documents.map(({ reference, document }) => {
    const lines = operationsOf(document).map(
      ({ id, method, path, operation }) =>
        `- [${operation.summary}](${operationPath(reference, operation)}.md): ${method} ${path}, ${id}${isOfExtension(operation) ? ' (extension)' : ''}`,
    );
    const meaning = reference.followsSpecification ? `Extension: ${MARKS.extension.meaning}\n\n` : '';
    return `## ${reference.title}\n\n${meaning}- [OpenAPI document](openapi/${reference.name}.yaml)\n${lines.join('\n')}`;
  });
  return `# Reseller Infrastructure Service API

> ${documents[0]?.document.info.summary ?? ''}

Forms are application/x-www-form-urlencoded, responses are JSON in one envelope, and the API key is in the header X-SERVICE-APIKEY.
\`npx -y pnpm@12 start\` in a copy of the repository starts a sandbox at http://127.0.0.1:4010. The typed client is @reseller/client.

## Guides

${guides.map(({ title, path }) => `- [${title}](${path})`).join('\n')}

${lists.join('\n\n')}
`;
}
