import type { Provenance } from '../lint/constraints.ts';

/** A sentence that states its own provenance: the specification does not show its content. */
export interface Statement {
  readonly text: string;
  readonly provenance: Exclude<Provenance, 'shown'>;
}

const MARKER = /\b(?:not shown|inferred|this service|this implementation)\b/i;
/** The bundle adds these to descriptions, for the docs. */
const REMARK = /^\*[^*]+\*$/;
/** The section of description.md that explains the words. */
const LEGEND = 'How to read this document';

/** The sentences of a description that contain a marker. */
export function statementsOf(description: string): Statement[] {
  return description.split(/\n\s*\n/).flatMap((paragraph) => {
    const text = oneLine(paragraph);
    return REMARK.test(text) ? [] : sentencesOf(text).flatMap(statementOf);
  });
}

/** The same for description.md, by heading. If a marked paragraph introduces a list or a table, every item counts. */
export function statementsOfMarkdown(markdown: string): (Statement & { readonly heading: string })[] {
  let heading = '';
  let introduction: Statement['provenance'] | undefined;
  return markdown.split(/\n\s*\n/).flatMap((block) => {
    const [, title] = /^#+ (.*)/.exec(block) ?? [];
    if (title !== undefined) {
      heading = title;
      introduction = undefined;
    }
    if (title !== undefined || heading === LEGEND) return [];
    if (/^[-|\s]/.test(block)) {
      const inherited = introduction;
      return textsOf(block).flatMap((text) => {
        const found: Statement[] = inherited === undefined ? sentencesOf(text).flatMap(statementOf) : [{ text, provenance: inherited }];
        return found.map((statement) => ({ heading, ...statement }));
      });
    }
    const found = sentencesOf(oneLine(block)).flatMap(statementOf);
    introduction = found.some(({ text }) => /in this implementation/i.test(text)) ? 'not-shown' : undefined;
    // The introduction of a list states nothing without the list.
    return found.filter(({ text }) => !text.endsWith(':')).map((statement) => ({ heading, ...statement }));
  });
}

/** The items of a list, the rows of a table without its head, or the paragraph that continues an item. */
function textsOf(block: string): string[] {
  if (!block.trim().startsWith('|')) return block.split(/\n(?=- )/).map((item) => oneLine(item).replace(/^- /, ''));
  return block
    .trim()
    .split('\n')
    .slice(2)
    .map((row) => oneLine(row).replace(/^\| /, '').replace(/ \|$/, '').replaceAll(' | ', ': '));
}

function statementOf(text: string): Statement[] {
  if (!MARKER.test(text)) return [];
  const isInferred = /\binferred\b/i.test(text) && !/\b(?:not shown|this service|this implementation)\b/i.test(text);
  return [{ text, provenance: isInferred ? 'inferred' : 'not-shown' }];
}

function sentencesOf(text: string): string[] {
  return text.split(/(?<=\.)\s+(?=[A-Z`"(])/);
}

function oneLine(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ');
}
