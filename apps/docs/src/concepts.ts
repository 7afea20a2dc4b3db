/** The chapters of the documents' descriptions as pages, so that the search finds them. */
import type { ReadDocument } from './pages.ts';
import { inlineMarks, markAt, MARKS } from './provenance.ts';
import { EXTENSION_FOLDER, OPERATOR_SECTION } from './references.ts';

/** The pages about one API. */
export interface Section {
  /** Its folder, with a trailing slash; empty for the root of the site. */
  readonly path: string;
  /** The path from its first page to the root of the site. */
  readonly root: string;
  readonly documents: readonly ReadDocument[];
}

export interface ConceptPage {
  /** Its file in the folder of the concepts, without its extension. */
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
  return documents.flatMap(({ reference, document }) => {
    const [main = '', extension = ''] = document.info.description.split(/^# Extension$/m);
    const chapters = [main, extension].flatMap((part, index) =>
      [...part.matchAll(/^## (.*)\n([^]*?)(?=^## |$(?![^]))/gm)].map(([, title = '', text = '']) => ({
        title,
        text,
        isExtension: index === 1,
      })),
    );
    return chapters
      .filter(({ title }) => !ELSEWHERE.has(title))
      .map(({ title, text, isExtension }) => {
        const toRoot = `${root === './' ? '../' : `../${root}`}${isExtension ? '../' : ''}`;
        const mark = reference.followsSpecification ? markAt(toRoot) : () => '';
        const name = title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
        const description = JSON.stringify(`${title}: a chapter of the ${reference.title}.`);
        const body = text.split('\n\n').map((paragraph) => inlineMarks(paragraph, mark));
        const notice = isExtension ? `\n\n${mark('extension')} ${MARKS.extension.meaning}` : '';
        const link = `This chapter is also in the [reference](${toRoot}${reference.page}).`;
        return {
          name: isExtension ? `${EXTENSION_FOLDER}/${name}` : name,
          title,
          page: `---\ndescription: ${description}\n---\n\n# ${title}\n\n${body.join('\n\n').trim()}${notice}\n\n${link}\n`,
        };
      });
  });
}
