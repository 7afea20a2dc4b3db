/** The page that lists what the specification does not show: every marked part of the reseller document. */
import type { OpenApi, PlacedOperation, Schema } from './document.ts';
import { operationsOf, parameterOf, responseOf } from './document.ts';
import { marked } from './field-list.ts';
import { fieldsOf, flat } from './fields.ts';
import { escapeVue, table } from './markdown.ts';
import { inlineMarks, markAt, sentencesOf, withoutRemarks } from './provenance.ts';
import type { Mark, Provenance } from './provenance.ts';

/** The name of the page, below the root of the site. */
export const NOT_SHOWN = 'not-shown';

/** A part of an operation: a sentence, a parameter, a status or a field. */
interface Part {
  readonly place: string;
  readonly meaning: string;
  readonly provenance: Provenance;
}

/** A part of several operations, such as the envelope, is listed with the first of them. */
export function notShownPage(document: OpenApi): string {
  const mark = markAt('./');
  const listed = new Set<string>();
  const sections = operationsOf(document).flatMap((placed) => {
    const rows = partsOf(document, placed, mark)
      .filter(({ meaning, provenance }) => provenance !== 'shown' || isMarked(meaning))
      .map(({ place, meaning, provenance }) => [place, `${marked(provenance, mark)}${meaning}`] as const)
      .filter(([place, meaning]) => !listed.has(`${place} ${meaning}`) && listed.add(`${place} ${meaning}`));
    return rows.length === 0
      ? []
      : [`## ${placed.operation.summary}\n\n\`${placed.method} ${placed.path}\`\n\n${table(['part', 'fact'], rows)}`];
  });
  return escapeVue(`---
title: Facts that the specification does not show
editLink: false
---

# Facts that the specification does not show

Everything in the reseller API that is ${mark('inferred')} or ${mark('not-shown')}, by operation. Each part is listed once, with the first operation that has it.
[Meaning of the marks](./guides/open-questions.md)

${sections.join('\n\n')}
`);
}

function isMarked(meaning: string): boolean {
  return meaning.includes('](./guides/open-questions#');
}

function partsOf(document: OpenApi, { operation }: PlacedOperation, mark: Mark): Part[] {
  const provenance = operation['x-provenance'] ?? 'shown';
  const sentences = sentencesOf(operation.description).map((sentence) => ({
    place: 'operation',
    meaning: inlineMarks(withoutRemarks(sentence), mark),
    provenance,
  }));
  const parameters = (operation.parameters ?? []).map((part) => {
    const { name, description = '', 'x-provenance': own = provenance } = parameterOf(document, part);
    return { place: `parameter \`${name}\``, meaning: inlineMarks(withoutRemarks(description), mark), provenance: own };
  });
  const [form] = Object.values(operation.requestBody?.content ?? {});
  return [
    ...sentences,
    ...parameters,
    ...fieldParts(document, form?.schema, { prefix: 'form', provenance, mark }),
    ...Object.entries(operation.responses).flatMap(([status, part]) => {
      const { description = '', content = {}, 'x-provenance': own = provenance } = responseOf(document, part);
      const [media] = Object.values(content);
      const response = { place: `response ${status}`, meaning: inlineMarks(withoutRemarks(description), mark), provenance: own };
      // A field of an assumed response is assumed too, which its row says once.
      return own === 'shown'
        ? [response, ...fieldParts(document, media?.schema, { prefix: 'response', provenance: own, mark })]
        : [response];
    }),
  ];
}

function fieldParts(
  document: OpenApi,
  schema: Schema | undefined,
  { prefix, provenance, mark }: { prefix: string; provenance: Provenance; mark: Mark },
): Part[] {
  if (schema === undefined) return [];
  return flat(fieldsOf(document, schema, { inherited: provenance, mark })).map((field) => ({
    place: `${prefix} \`${field.path}\``,
    meaning: field.meaning,
    provenance: field.provenance,
  }));
}
