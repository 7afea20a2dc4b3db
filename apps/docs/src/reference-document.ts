/** The copy of a document that the Redoc page shows: with samples, badges and marks. */
import type { OpenApi } from './document.ts';
import { operationsOf } from './document.ts';
import { factsOf } from './facts.ts';
import { withInheritedMarks } from './inherit.ts';
import { EXTENSION_BADGE, markAt, MARKS } from './provenance.ts';
import type { Mark } from './provenance.ts';
import { isOfExtension, operationPath } from './references.ts';
import type { Reference } from './references.ts';
import { samplesOf } from './samples.ts';

/** The path from the Redoc pages to the root of the site. */
const ROOT = '../';

export function referenceDocument(document: OpenApi, reference: Reference): OpenApi {
  const mark = markAt(ROOT);
  const marked = reference.followsSpecification ? withInheritedMarks(document, mark) : structuredClone(document);
  marked.info.description = withLegend(marked.info.description, mark);
  const original = new Map(operationsOf(document).map((placed) => [placed.id, placed]));
  for (const { id, method, operation } of operationsOf(marked)) {
    const placed = original.get(id);
    if (placed === undefined) continue;
    const { curl, typescript } = samplesOf(document, placed, reference);
    operation['x-codeSamples'] = [
      { lang: 'bash', label: 'curl', source: curl },
      { lang: 'typescript', label: 'TypeScript', source: typescript },
    ];
    operation['x-badges'] = [
      ...(isOfExtension(operation) ? [{ name: EXTENSION_BADGE, color: 'purple' }] : []),
      ...factsOf(operation, method, reference.followsSpecification).map(({ words, color }) => ({ name: words, color })),
    ];
    operation.description = `${operation.description}\n\n[Page of this operation, with a form to try it](${ROOT}${operationPath(reference, operation)})`;
  }
  return marked;
}

/** The document explains its remarks. The site shows marks instead, so its legend explains the marks. */
function withLegend(description: string, mark: Mark): string {
  const states = ['shown', 'inferred', 'not-shown', 'extension'] as const;
  const legend = [
    '## How to read this document',
    '',
    'The specification leaves some things open. Marks separate the facts that it shows from the others:',
    '',
    '| mark | meaning |',
    '|---|---|',
    ...states.map((state) => `| ${mark(state)} | ${MARKS[state].meaning} |`),
    `| ${mark('not-shown', 'limits assumed')} | The specification shows the field, but not its limits, such as the minimum, length or format. |`,
    '',
    '',
  ].join('\n');
  return description.replace(/## How to read this document\n[^]*?(?=\n## )/, legend);
}
