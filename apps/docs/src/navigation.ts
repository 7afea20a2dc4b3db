import type { OpenApi } from './document.ts';
import { operationsOf } from './document.ts';
import { guideGroups } from './guides.ts';
import type { Reference } from './references.ts';

interface Item {
  readonly text: string;
  readonly link?: string;
  readonly collapsed?: boolean;
  readonly target?: string;
  readonly items?: Item[];
}

/** The navigation bar and the sidebars, in the format of VitePress. */
export interface Navigation {
  readonly nav: Item[];
  readonly sidebar: Record<string, Item[]>;
}

/** A link to a Redoc page. It loads the whole page, because Redoc keeps its own history of addresses. */
function referenceLink({ name, title }: Reference): Item {
  return { text: title, link: `/reference/${name}`, target: '_self' };
}

export function navigationOf(documents: readonly { readonly reference: Reference; readonly document: OpenApi }[]): Navigation {
  const guides: Item[] = [
    { text: 'Quickstart', link: '/quickstart' },
    ...guideGroups.map(({ title, guides: members }) => ({
      text: title,
      items: members.map(({ name, title: text }) => ({ text, link: `/guides/${name}` })),
    })),
    {
      text: 'More',
      items: [
        { text: 'Error catalogue', link: '/errors' },
        { text: 'Collections and llms.txt', link: '/downloads' },
        { text: 'Changelog', link: '/changelog' },
      ],
    },
  ];
  const sidebar: Record<string, Item[]> = { '/': guides };
  for (const { reference, document } of documents) {
    sidebar[`/operations/${reference.name}/`] = [
      { text: `${reference.title}: all operations`, link: `/operations/${reference.name}/` },
      ...document.tags.map(({ name }) => ({
        text: name,
        items: operationsOf(document)
          .filter(({ operation }) => operation.tags[0] === name)
          .map(({ id, operation }) => ({ text: operation.summary, link: `/operations/${reference.name}/${id}` })),
      })),
    ];
  }
  return {
    nav: [
      { text: 'Quickstart', link: '/quickstart' },
      { text: 'Guides', link: '/guides/first-purchase' },
      {
        text: 'Reference',
        items: documents.flatMap(({ reference }) => [
          referenceLink(reference),
          { text: `${reference.title}: operations`, link: `/operations/${reference.name}/` },
        ]),
      },
      { text: 'Errors', link: '/errors' },
    ],
    sidebar,
  };
}
