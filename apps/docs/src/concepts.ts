/** The chapters of the documents' descriptions as pages, so that the search finds them. */
import type { ReadDocument } from './pages.ts';
import { EXTENSION_MEANING, extensionMark, inlineMarks, markAt } from './provenance.ts';
import { OPERATOR_SECTION } from './references.ts';

/** The pages about one API. */
export interface Section {
  /** Its folder, with a trailing slash; empty for the root of the site. */
  readonly path: string;
  /** The path from its first page to the root of the site. */
  readonly root: string;
  readonly documents: readonly ReadDocument[];
}

export interface ConceptPage {
  readonly name: string;
  readonly title: string;
  readonly page: string;
}

/** Chapters that have a page of another kind: the guide to open questions and the error catalogue. */
const ELSEWHERE: ReadonlySet<string> = new Set(['How to read this document', 'Errors', 'Problems']);

export function sectionsOf(documents: readonly ReadDocument[]): Section[] {
  return [
    { path: '', root: './', documents: documents.filter(({ reference }) => reference.api !== 'operator') },
    { path: `${OPERATOR_SECTION}/`, root: '../', documents: documents.filter(({ reference }) => reference.api === 'operator') },
  ];
}

export function conceptPages({ root, documents }: Section): ConceptPage[] {
  const toRoot = root === './' ? '../' : `../${root}`;
  return documents.flatMap(({ reference, document }) => {
    const mark = reference.followsSpecification ? markAt(toRoot) : () => '';
    const notice = reference.isExtension ? `${extensionMark(toRoot)} ${EXTENSION_MEANING}\n\n` : '';
    return [...document.info.description.matchAll(/^## (.*)\n([^]*?)(?=^## |$(?![^]))/gm)]
      .map(([, title = '', text = '']) => ({ title, text }))
      .filter(({ title }) => !ELSEWHERE.has(title))
      .map(({ title, text }) => {
        const name = title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
        const description = JSON.stringify(`${title}: a chapter of the ${reference.title}.`);
        const body = text.split('\n\n').map((paragraph) => inlineMarks(paragraph, mark));
        const link = `This chapter is also in the [reference](${toRoot}${reference.page}).`;
        return {
          name,
          title,
          page: `---\ndescription: ${description}\n---\n\n# ${title}\n\n${notice}${body.join('\n\n').trim()}\n\n${link}\n`,
        };
      });
  });
}
