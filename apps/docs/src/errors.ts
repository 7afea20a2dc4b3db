/** The error catalogue of an API: each error with its cause, what to do about it, who returns it, and an example. */
import type { Section } from './concepts.ts';
import type { OpenApi, Operation } from './document.ts';
import { exampleOf, operationsOf, responseOf } from './document.ts';
import { OPERATOR_REMEDIES, RESELLER_REMEDIES } from './error-remedies.ts';
import type { Remedy } from './error-remedies.ts';
import type { ReadDocument } from './pages.ts';
import { inlineMarks, markAt } from './provenance.ts';
import { isOfExtension, operationPath } from './references.ts';
import type { Reference } from './references.ts';

interface CatalogueEntry {
  readonly status: string;
  readonly type: string;
  /** When it happens, as the document says it. */
  readonly cause: string;
}

interface Returned {
  /** Its first example. */
  readonly value: unknown;
  readonly reference: Reference;
  /** The operations that can fail with it. */
  readonly operations: readonly Operation[];
  /** Whether every operation of the document can. */
  readonly isEvery: boolean;
}

/**
 * @throws Error if an error has no remedy, or a remedy has no error; its message names the type.
 */
export function errorCatalogue({ path, root, documents }: Section): string {
  const isOperator = path !== '';
  const remedies = isOperator ? OPERATOR_REMEDIES : RESELLER_REMEDIES;
  const entries = documents.flatMap(({ document }) => entriesOf(document));
  const returned = Map.groupBy(documents.flatMap(returnedBy), ([type]) => type);
  const types = new Set(entries.map(({ type }) => type));
  for (const type of [...Object.keys(remedies), ...returned.keys()])
    if (!types.has(type)) throw new Error(`The error ${type} has a remedy or an example, but no row in the table of the document.`);
  const introduction = inlineMarks(introductionOf(documents), isOperator ? () => '' : markAt(root));
  const parts = entries.map((entry) => {
    const remedy = remedies[entry.type];
    if (remedy === undefined) throw new Error(`The error ${entry.type} has no remedy in apps/docs/src/error-remedies.ts.`);
    return errorEntry(
      entry,
      remedy,
      (returned.get(entry.type) ?? []).map(([, found]) => found),
      root,
    );
  });
  return `# ${isOperator ? 'Errors of the operator API' : 'Error catalogue'}

${introduction}

${parts.join('\n\n')}
`;
}

/** The chapters about errors: that of the specification and that of the extension. */
function chaptersOf({ info }: OpenApi): string[] {
  return [...info.description.matchAll(/(?<=^## (?:Errors|Problems)\n)[^]*?(?=\n##? |$(?![^]))/gm)].map(([chapter]) => chapter);
}

/** The text before the table. */
function introductionOf(documents: readonly ReadDocument[]): string {
  const [main] = documents;
  return main === undefined ? '' : ((chaptersOf(main.document)[0] ?? '').split(/\n\| code/)[0] ?? '').trim();
}

/** The rows of the table, one for each type. */
function entriesOf(document: OpenApi): CatalogueEntry[] {
  const rows = [
    ...chaptersOf(document)
      .join('\n')
      .matchAll(/^\| (\d{3}) \| (.*?) \| (.*) \|$/gm),
  ];
  return rows.flatMap(([, status = '', types = '', cause = '']) =>
    [...types.matchAll(/`([^`]+)`/g)].map(([, type = '']) => ({ status, type, cause })),
  );
}

function returnedBy({ reference, document }: ReadDocument): [type: string, returned: Returned][] {
  const all = operationsOf(document);
  const failures = all.flatMap(({ operation }) =>
    Object.entries(operation.responses)
      .filter(([status]) => !status.startsWith('2'))
      .flatMap(([, part]) => Object.values(responseOf(document, part).content ?? {}))
      .flatMap((media) => Object.values(media.examples ?? {}))
      .map((example) => ({ operation, value: exampleOf(document, example).value })),
  );
  return [...Map.groupBy(failures, ({ value }) => errorTypeOf(value))].map(([type, found]) => {
    const operations = [...new Set(found.map(({ operation }) => operation))];
    return [type, { value: found[0]?.value, reference, operations, isEvery: operations.length === all.length }];
  });
}

function errorEntry(
  { status, type, cause: shown }: CatalogueEntry,
  { cause = shown, remedy, guide }: Remedy,
  returned: readonly Returned[],
  root: string,
): string {
  const [first] = returned;
  const lists = returned.map(({ reference, operations, isEvery }) => {
    if (isEvery) return `every operation of the ${reference.title}`;
    return operations
      .map((operation, index) => {
        const link = `${index === 0 ? '' : ', '}[${operation.operationId}](${root}${operationPath(reference, operation)})`;
        return isOfExtension(operation) ? `<span class="of-extension">${link}</span>` : link;
      })
      .join('');
  });
  const by = lists.length === 0 ? 'the HTTP server, before an operation is chosen' : lists.join(', ');
  return [
    `## ${status} \`${type}\``,
    `**Cause.** ${cause.charAt(0).toUpperCase()}${cause.slice(1)}.`,
    `**Remedy.** ${remedy} More: [${guide.title}](${root}${guide.path}).`,
    `**Returned by** ${by}.`,
    first === undefined ? '' : `\`\`\`json\n${JSON.stringify(first.value, null, 2)}\n\`\`\``,
  ]
    .filter((text) => text !== '')
    .join('\n\n');
}

/** The type of an error of the reseller API, or the last part of the type of a problem. */
function errorTypeOf(value: unknown): string {
  const type = typeof value === 'object' && value !== null && 'type' in value ? String(value.type) : 'unknown';
  return type.split('/').at(-1) ?? type;
}
