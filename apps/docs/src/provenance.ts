/** How the site shows where a fact comes from. */
export type Provenance = 'shown' | 'inferred' | 'not-shown';

/** The page that explains the marks. Each mark is a link to its heading there. */
export const LEGEND = '/guides/open-questions';

/** The three states, as the legend explains them. */
export const MARKS: Readonly<Record<Provenance, { readonly word: string; readonly meaning: string }>> = {
  shown: { word: 'shown', meaning: 'The specification states it. Parts without a mark are shown.' },
  inferred: { word: 'inferred', meaning: 'It follows from something shown, or is known from public clients of APIs of this form.' },
  'not-shown': {
    word: 'assumed',
    meaning: 'The specification leaves it open. It is assumed by this implementation; another one may behave differently.',
  },
};

/** A mark: a link to its explanation, which the site shows as a badge. */
export type Mark = (provenance: Provenance, prefix?: string) => string;

/** @param root The path from the page to the root of the site, with a trailing slash. */
export function markAt(root: string): Mark {
  return (provenance, prefix = '') => `[${prefix}${MARKS[provenance].word}](${root}${LEGEND.slice(1)}.html#${MARKS[provenance].word})`;
}

/** The meaning of the mark of an operation that the extension adds. */
export const EXTENSION_MEANING =
  'The operation is not part of the specification. This implementation adds it; another service may lack it or have it in another form.';

/** The badge of such an operation where a link is not possible. */
export const EXTENSION_BADGE = 'Extension, not in the specification';

/** The mark of an operation of the extension, as a link to its explanation. */
export function extensionMark(root: string): string {
  return `[extension](${root}${LEGEND.slice(1)}.html#extension)`;
}

/** The remarks that the bundle adds to descriptions (openapi/lint/provenance-remark.ts). The site shows marks instead. */
const REMARK = /(?:^|\n\n)\*(?:Not shown in the specification; this is our choice|Inferred: the specification does not state this)\.\*/g;
const LIMITS_REMARK = /(?:^|\n\n)\*((?:Limits|Shown|Inferred|Not shown)[^*\n]*)\*(?=\n|$)/g;

/** A description without the remarks of the bundle. */
export function withoutRemarks(description: string): string {
  return description.replace(REMARK, '').replace(LIMITS_REMARK, '');
}

/** The remarks of the bundle about the limits of a part, as marks. Empty if there are none. */
export function limitMarks(description: string, mark: Mark): string {
  return [...description.replace(REMARK, '').matchAll(LIMITS_REMARK)].map(([, said = '']) => limitsInWords(said, mark)).join(' ');
}

function limitsInWords(said: string, mark: Mark): string {
  return said
    .replace(/Limits not shown(?:; they are our choice)?\./, mark('not-shown', 'limits '))
    .replace(/Limits inferred\./, mark('inferred', 'limits '))
    .replace(/Not shown: (.*?)\./, (_, rules: string) => `${rules}: ${mark('not-shown')}`)
    .replace(/Inferred: (.*?)\./, (_, rules: string) => `${rules}: ${mark('inferred')}`)
    .replace(/Shown: (.*?)\./, (_, rules: string) => `${rules}: ${mark('shown')}`);
}

/** Replaces words in brackets, which show the provenance of single facts in a sentence, with marks. */
export function inlineMarks(text: string, mark: Mark): string {
  return text.replaceAll(/\((not shown|inferred)\)/g, (_, word: string) => mark(word === 'inferred' ? 'inferred' : 'not-shown'));
}
