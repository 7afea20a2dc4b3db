/** How the site shows where a fact comes from. */
export type Provenance = 'shown' | 'inferred' | 'not-shown';

/** The page that explains the marks. Each mark is a link to its heading there. */
export const LEGEND = '/guides/open-questions';

/** The states, as the legend explains them. */
export const MARKS: Readonly<Record<Provenance | 'extension', { readonly word: string; readonly meaning: string }>> = {
  shown: { word: 'shown', meaning: 'The specification states it. Parts without a mark are shown.' },
  inferred: { word: 'inferred', meaning: 'It follows from something shown, or is known from public clients of APIs of this form.' },
  'not-shown': {
    word: 'assumed',
    meaning: 'The specification leaves it open. It is assumed by this implementation; another one may behave differently.',
  },
  extension: {
    word: 'extension',
    meaning: 'It is not in the specification. This implementation adds it; another service may lack it or have it in another form.',
  },
};

/** A mark: a link to its explanation, which the site shows as a badge with the word of the state or with other words. */
export type Mark = (state: Provenance | 'extension', words?: string) => string;

/** @param root The path from the page to the root of the site, with a trailing slash. */
export function markAt(root: string): Mark {
  return (state, words = MARKS[state].word) => `[${words}](${root}${LEGEND.slice(1)}#${MARKS[state].word})`;
}

/** The badge of such an operation where a link is not possible. */
export const EXTENSION_BADGE = 'Extension, not in the specification';

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
    .replace(/Limits not shown(?:; they are our choice)?\./, mark('not-shown', 'limits assumed'))
    .replace(/Limits inferred\./, mark('inferred', 'limits inferred'))
    .replace(/Not shown: (.*?)\./, (_, rules: string) => mark('not-shown', `${rulesInWords(rules)} assumed`))
    .replace(/Inferred: (.*?)\./, (_, rules: string) => mark('inferred', `${rulesInWords(rules)} inferred`))
    .replace(/Shown: (.*?)\./, (_, rules: string) => mark('shown', `${rulesInWords(rules)} shown`));
}

/** The keywords of JSON Schema, such as "`minLength`, `pattern`", in words. */
function rulesInWords(rules: string): string {
  return rules
    .replaceAll('`', '')
    .replace('dependentRequired', 'dependencies')
    .replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** Where a sentence ends and the next begins. */
const BETWEEN_SENTENCES = /((?<=\.)\s+(?=[A-Z`"(]))/;

/** The sentences of a description. Every second part of the split is the space between them. */
export function sentencesOf(text: string): string[] {
  return text.split(BETWEEN_SENTENCES).filter((_, index) => index % 2 === 0);
}

/** Replaces the words with which the document states the provenance of single facts by marks. */
export function inlineMarks(text: string, mark: Mark): string {
  return text
    .split(BETWEEN_SENTENCES)
    .map((part) => sentenceMarks(part, mark))
    .join('');
}

/** The document says "(inferred)", "It is inferred that …", "Not shown: …" or "… is not shown; this service …". */
function sentenceMarks(sentence: string, mark: Mark): string {
  const inferred = mark('inferred');
  const assumed = mark('not-shown');
  const open = mark('not-shown', 'not specified');
  return sentence
    .replaceAll(/\((?:the latter is )?(not shown|inferred)(?: in the specification)?\)/g, (_, word: string) =>
      word === 'inferred' ? inferred : assumed,
    )
    .replaceAll(/\(the ([a-z]+) is inferred\)/g, (_, what: string) => mark('inferred', `${what} inferred`))
    .replaceAll(/(`[^`]+`) is inferred/g, `$1 ${inferred}`)
    .replace(/^It is inferred that ([^]*)\.$/, (_, fact: string) => `${capitalised(fact)}. ${inferred}`)
    .replace(/^That it (.*?) is inferred/, `It $1 ${inferred}`)
    .replace(/; it is inferred that ([^]*?)\.$/, `; $1 ${inferred}.`)
    .replace(/^Not shown: ([^]*)\.$/, (_, fact: string) => `${capitalised(fact)}. ${assumed}`)
    .replace(/^([^]*?),? (?:is|are) not shown(?: in the specification)?; ([^]*)\.$/, `$1: $2. ${assumed}`)
    .replace(/^([^]*?),? (?:is|are) not shown(?: in the specification)?\.$/, `$1: ${open}`);
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
