import { EXTENSION_PLACES, PLACES } from '@reseller/client/places';
import type { Places } from '@reseller/client/places';

import { conceptPages } from './concepts.ts';
import type { Section } from './concepts.ts';
import { operationsOf } from './document.ts';
import type { PlacedOperation } from './document.ts';
import { guideGroups } from './guides.ts';
import { CLIENT_PAGE, HANDBOOK } from './handbook.ts';
import { NOT_SHOWN } from './not-shown.ts';
import type { ReadDocument } from './pages.ts';
import { EXTENSION_FOLDER, OPERATOR_SECTION, operationPath } from './references.ts';
import type { Reference } from './references.ts';

interface Item {
  readonly text: string;
  readonly link?: string;
  readonly collapsed?: boolean;
  readonly target?: string;
  readonly items?: Item[];
}

/** The navigation bar and the sidebars of a section, in the format of VitePress. */
export interface Navigation {
  readonly nav: Item[];
  readonly sidebar: Record<string, Item[]>;
}

/** A link to a Redoc page. It loads the whole page, because Redoc keeps its own history of addresses. */
function referenceLink({ title, page }: Reference): Item {
  return { text: `${title}: reference`, link: `/${page}`, target: '_self' };
}

function operationsLink({ title, operations }: Reference): Item {
  return { text: `${title}: operations`, link: `/${operations}/` };
}

/** The navigation of each section, by its path. */
export function navigationsOf(sections: readonly Section[]): Record<string, Navigation> {
  return Object.fromEntries(
    sections.map((section) => [section.path, section.path === '' ? resellerNavigation(section) : operatorNavigation(section)]),
  );
}

function conceptItems(section: Section): Item {
  const items = conceptPages(section).map(({ name, title }) => ({ text: title, link: `/${section.path}concepts/${name}` }));
  return { text: 'Concepts', items };
}

function resellerNavigation(section: Section): Navigation {
  const { documents } = section;
  const guides: Item[] = [
    { text: 'Quickstart', link: '/quickstart' },
    { text: CLIENT_PAGE.title, link: `/guides/${CLIENT_PAGE.name}` },
    ...guideGroups.map(({ title, guides: members }) => ({
      text: title,
      items: members.map(({ name, title: text }) => ({ text, link: `/guides/${name}` })),
    })),
    conceptItems(section),
    {
      text: 'More',
      items: [
        { text: 'Error catalogue', link: '/errors' },
        { text: 'Facts that are not shown', link: `/${NOT_SHOWN}` },
        { text: 'Collections and llms.txt', link: '/downloads' },
        { text: 'Changelog', link: '/changelog' },
      ],
    },
  ];
  return {
    nav: [
      { text: 'Quickstart', link: '/quickstart' },
      { text: 'Guides', link: '/guides/first-purchase' },
      { text: 'Reference', items: documents.flatMap(({ reference }) => [referenceLink(reference), operationsLink(reference)]) },
      { text: 'Errors', link: '/errors' },
      { text: 'For operators', link: `/${OPERATOR_SECTION}/` },
    ],
    sidebar: { '/': guides, ...operationSidebars(documents) },
  };
}

function operatorNavigation(section: Section): Navigation {
  const { documents } = section;
  const pages: Item[] = [
    { text: 'Overview', link: `/${OPERATOR_SECTION}/` },
    { text: 'The first day of a provider', link: `/${OPERATOR_SECTION}/first-day` },
    { text: 'Handbook', items: HANDBOOK.map(({ name, title }) => ({ text: title, link: `/${OPERATOR_SECTION}/${name}` })) },
    ...documents.flatMap(({ reference }) => [referenceLink(reference), operationsLink(reference)]),
    { text: 'Errors', link: `/${OPERATOR_SECTION}/errors` },
  ];
  return {
    nav: [
      ...documents.map(({ reference }) => ({ ...referenceLink(reference), text: 'Reference' })),
      ...documents.map(({ reference }) => ({ ...operationsLink(reference), text: 'Operations' })),
      { text: 'Handbook', link: `/${OPERATOR_SECTION}/handbook` },
      { text: 'Errors', link: `/${OPERATOR_SECTION}/errors` },
      { text: 'For resellers', link: '/' },
    ],
    sidebar: { [`/${OPERATOR_SECTION}/`]: [...pages, conceptItems(section)], ...operationSidebars(documents) },
  };
}

/** A sidebar for the operation pages of each document. */
function operationSidebars(documents: readonly ReadDocument[]): Record<string, Item[]> {
  return Object.fromEntries(
    documents.flatMap(({ reference, document }) => {
      const ofTag = Map.groupBy(operationsOf(document), ({ operation }) => operation.tags[0]);
      const items = document.tags.map(({ name }) => ({ text: name, items: operationItems(reference, ofTag.get(name) ?? []) }));
      const folders = reference.followsSpecification ? [reference.operations, `operations/${EXTENSION_FOLDER}`] : [reference.operations];
      return folders.map((folder) => [`/${folder}/`, [operationsLink(reference), ...items]]);
    }),
  );
}

/** The order and the groups of the client: `vm.create`, `vm.quoteCreate`, …, and then `vm.backup`. */
const ORDER = [...placed(PLACES), ...placed(EXTENSION_PLACES)];

interface PlaceOfOperation {
  readonly id: string;
  /** Names of groups above the operation, such as `vm` and `backup`. */
  readonly groups: readonly string[];
}

function placed(places: Places, groups: readonly string[] = []): PlaceOfOperation[] {
  return Object.entries(places).flatMap(([name, found]) =>
    typeof found === 'string' ? [{ id: found, groups }] : placed(found, [...groups, name]),
  );
}

/** Names of groups within a resource. */
const GROUPS: Readonly<Record<string, string>> = {
  backup: 'Backups',
  iso: 'ISO files',
  sshKey: 'SSH keys',
  rdns: 'Reverse DNS',
  dns: 'DNS records',
  dnssec: 'DNSSEC',
  keys: 'API keys',
  webhooks: 'Webhooks',
};

/** The operations of a resource, a quote after what it quotes, and then the groups within it. Other APIs keep the order of their document. */
function operationItems(reference: Reference, operations: readonly PlacedOperation[]): Item[] {
  function itemOf({ operation }: PlacedOperation): Item {
    return { text: operation.summary, link: `/${operationPath(reference, operation)}` };
  }
  if (!reference.followsSpecification) return operations.map(itemOf);
  const rank = new Map(ORDER.map(({ id }, index) => [id, index]));
  const ranked = operations.toSorted((one, other) => (rank.get(one.id) ?? 0) - (rank.get(other.id) ?? 0));
  const groupOf = new Map(ORDER.map(({ id, groups }) => [id, GROUPS[groups[1] ?? '']]));
  const quotes = ranked.filter(({ id }) => id.startsWith('quote'));
  const sorted = ranked.flatMap((one) =>
    quotes.includes(one) ? [] : [one, ...quotes.filter(({ id }) => id.toLowerCase() === `quote${one.id}`.toLowerCase())],
  );
  const groups = Map.groupBy(sorted, ({ id }) => groupOf.get(id));
  return [...groups]
    .toSorted(([one], [other]) => Number(one !== undefined) - Number(other !== undefined))
    .flatMap(([text, members]) => (text === undefined ? members.map(itemOf) : [{ text, items: members.map(itemOf) }]));
}
