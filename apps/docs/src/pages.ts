/** The pages that are made from the documents. The other pages are in `site/`. */
import { readdir, readFile } from 'node:fs/promises';

import type { OpenApi } from './document.ts';
import { exampleOf, operationsOf, responseOf } from './document.ts';
import { EXTENSION_MEANING, inlineMarks, markAt } from './provenance.ts';
import type { Reference } from './references.ts';
import { sandboxUrl } from './samples.ts';

export interface ReadDocument {
  readonly reference: Reference;
  readonly document: OpenApi;
}

/** The page in which Redoc shows a document. */
export function referencePage({ reference, document }: ReadDocument): string {
  return `---
title: ${reference.title}
description: ${JSON.stringify(document.info.summary ?? document.info.title)}
layout: page
sidebar: false
search: false
---

<ClientOnly><RedocReference name="${reference.name}" api="${reference.api}" sandbox="${sandboxUrl(document)}" /></ClientOnly>
`;
}

const EXTENSION_WARNING = `::: warning Not part of the specification
This implementation adds these operations. Another service may lack them or have them in another form. [How we mark them](../../guides/open-questions.md)
:::

`;

/** The list of all operations of a document. */
export function operationList({ reference, document }: ReadDocument): string {
  const tags = document.tags.map(({ name, description }) => {
    const rows = operationsOf(document)
      .filter(({ operation }) => operation.tags[0] === name)
      .map(({ id, method, path, operation }) => `| [${operation.summary}](./${id}.md) | \`${method} ${path}\` | \`${id}\` |`);
    return `## ${name}\n\n${description}\n\n| operation | request | operationId |\n|---|---|---|\n${rows.join('\n')}`;
  });
  return `---
pageClass: operation-list
---

# ${reference.title}: operations

${reference.isExtension ? EXTENSION_WARNING : ''}${document.info.summary ?? ''} The [reference](../../reference/${reference.name}.html) shows the same operations with all schemas.

${tags.join('\n\n')}
`;
}

/** The error catalogue: the tables of the documents, and an example of each error. */
export function errorCatalogue(documents: readonly ReadDocument[]): string {
  const parts = documents.map(({ reference, document }) => {
    const mark = reference.followsSpecification ? markAt('./') : () => '';
    if (reference.isExtension) {
      const specified = documents.find((other) => other.reference.api === reference.api && !other.reference.isExtension);
      const known = specified === undefined ? [] : errorsOf(specified.document).map(({ type }) => type);
      return `## ${reference.title}\n\nIts operations have the errors above, and those below.\n\n${errorExamples(document, reference, new Set(known))}`;
    }
    const section = /(?<=^## (?:Errors|Problems)\n)[^]*?(?=\n## )/m.exec(document.info.description)?.[0] ?? '';
    return `## ${reference.title}\n${inlineMarks(section, mark)}\n\n${errorExamples(document, reference, new Set())}`;
  });
  return `# Error catalogue

Every failure of both APIs: its status, its type, when it happens, and an example. The client throws an error class for each;
[Your first purchase](./guides/first-purchase.md) shows how to handle them.

${parts.join('\n\n')}
`;
}

interface DescribedError {
  readonly type: string;
  readonly status: string;
  /** Its first example. */
  readonly value: unknown;
  /** The operationIds that can fail with it. */
  readonly operations: string[];
}

/** Every type of error in the examples of a document, by status. */
function errorsOf(document: OpenApi): DescribedError[] {
  const found = new Map<string, DescribedError>();
  for (const { id, operation } of operationsOf(document)) {
    for (const [status, part] of Object.entries(operation.responses)) {
      if (status.startsWith('2')) continue;
      for (const media of Object.values(responseOf(document, part).content ?? {})) {
        for (const example of Object.values(media.examples ?? {})) {
          const { value } = exampleOf(document, example);
          const type = typeOf(value);
          const known = found.get(type) ?? { type, status, value, operations: [] };
          if (!known.operations.includes(id)) known.operations.push(id);
          found.set(type, known);
        }
      }
    }
  }
  return [...found.values()].toSorted((one, other) => Number(one.status) - Number(other.status));
}

function errorExamples(document: OpenApi, { name }: Reference, left: ReadonlySet<string>): string {
  const total = operationsOf(document).length;
  return errorsOf(document)
    .filter(({ type }) => !left.has(type))
    .map(({ type, status, value, operations }) => {
      const links = operations.map((id) => `[${id}](./operations/${name}/${id}.md)`).join(', ');
      const by = operations.length === total ? 'every operation' : links;
      return `### ${status} \`${type}\`\n\nReturned by ${by}.\n\n\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``;
    })
    .join('\n\n');
}

/** The type of an error of the reseller API, or the last part of the type of a problem. */
function typeOf(value: unknown): string {
  const type = typeof value === 'object' && value !== null && 'type' in value ? String(value.type) : 'unknown';
  return type.split('/').at(-1) ?? type;
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
      ({ id, method, path, operation }) => `- [${operation.summary}](operations/${reference.name}/${id}.md): ${method} ${path}, ${id}`,
    );
    const warning = reference.isExtension ? `${EXTENSION_MEANING}\n\n` : '';
    return `## ${reference.title}\n\n${warning}- [OpenAPI document](openapi/${reference.name}.yaml)\n${lines.join('\n')}`;
  });
  return `# Reseller Infrastructure Service API

> ${documents[0]?.document.info.summary ?? ''}

Forms are application/x-www-form-urlencoded, responses are JSON in one envelope, and the API key is in the header X-SERVICE-APIKEY.
\`npx pnpm@12 start\` in a copy of the repository starts a sandbox at http://127.0.0.1:4010. The typed client is @reseller/client.

## Guides

${guides.map(({ title, path }) => `- [${title}](${path})`).join('\n')}

${lists.join('\n\n')}
`;
}
