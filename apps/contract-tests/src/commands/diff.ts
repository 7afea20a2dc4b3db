import { diffDocuments, IMPACTS } from '@reseller/contract/engine';
import type { Change } from '@reseller/contract/engine';

import type { Console } from '../console.ts';
import { safeConsole } from '../console.ts';
import { openDocument, sourcesOf } from '../document.ts';
import type { Arguments } from '../options.ts';

const HEADINGS = {
  breaking: 'Breaking on the wire',
  'client-breaking': 'Breaking only for code of the generated client',
  uncompared: 'Not compared',
  safe: 'Safe',
  documentation: 'Documentation only',
} as const;
/** The commands of GitHub Actions that annotate a line. */
const ANNOTATIONS = {
  breaking: 'error',
  'client-breaking': 'error',
  uncompared: 'warning',
  safe: 'notice',
  documentation: 'notice',
} as const;

/** A change with its place in a file. */
interface PlacedChange extends Omit<Change, 'at' | 'isRemoved'> {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** What the comparison judges. */
const JUDGED = {
  all: 'Judges requests and responses (the wire), and code that calls the generated client.',
  wire: 'Judges requests and responses (the wire). Changes that break only code of the generated client are safe.',
} as const;

/**
 * Prints the changes between two documents.
 * @returns 1 when a change is breaking, else 2 when a change was not compared, else 0
 */
export async function compareDocuments({ files, format, wire }: Arguments, output: Console): Promise<0 | 1 | 2> {
  const [old = '', now = ''] = files;
  const [before, after] = [await openDocument(old), await openDocument(now)];
  const changes = diffDocuments(before.document, after.document).map((change) =>
    wire && change.impact === 'client-breaking' ? { ...change, impact: 'safe' as const } : change,
  );
  const [were, are] = [await sourcesOf(before), await sourcesOf(after)];
  const placed = changes.map(({ at, isRemoved, ...change }): PlacedChange => {
    const { file, line, column } = (isRemoved ? were : are).locate(at);
    return { ...change, file, line, column };
  });
  safeConsole(output, []).print(FORMATS[format](placed, [JUDGED[wire ? 'wire' : 'all'], ...new Set([...before.notes, ...after.notes])]));
  const impacts = new Set(changes.map(({ impact }) => impact));
  return impacts.has('breaking') || impacts.has('client-breaking') ? 1 : impacts.has('uncompared') ? 2 : 0;
}

type Format = (changes: readonly PlacedChange[], notes: readonly string[]) => string;

const FORMATS: Readonly<Record<Arguments['format'], Format>> = {
  text(changes, notes) {
    if (changes.length === 0) return [...notes, 'The documents describe the same API.'].join('\n');
    const lines = byImpact(changes).flatMap(([impact, some]) => [
      `${HEADINGS[impact]} (${some.length})`,
      ...some.map(
        ({ what, operations, client, ...place }) =>
          `  ${what}\n    ${operations.join(', ') || 'the whole document'}  ${placeText(place)}\n    ${client}`,
      ),
    ]);
    return [...notes, ...lines, countsText(changes)].join('\n');
  },
  json: (changes, notes) => JSON.stringify({ notes, changes }, undefined, 2),
  markdown(changes, notes) {
    const sections = byImpact(changes).map(([impact, some]) =>
      [
        `## ${HEADINGS[impact]} (${some.length})`,
        '',
        '| change | operations | place | consequence |',
        '| --- | --- | --- | --- |',
        ...some.map(
          ({ what, operations, client, ...place }) =>
            `| ${[what, operations.join(', ') || 'the whole document', placeText(place), client].map(cell).join(' | ')} |`,
        ),
      ].join('\n'),
    );
    return [...notes, ...sections, changes.length === 0 ? 'The documents describe the same API.' : countsText(changes)].join('\n\n');
  },
  github: (changes) =>
    changes
      .map(
        ({ impact, what, client, file, line, column }) =>
          `::${ANNOTATIONS[impact]} file=${property(file)},line=${line},col=${column}::${data(`${what}. ${client}`)}`,
      )
      .join('\n'),
};

function byImpact(changes: readonly PlacedChange[]): readonly (readonly [Change['impact'], readonly PlacedChange[]])[] {
  return IMPACTS.map((impact) => [impact, changes.filter((change) => change.impact === impact)] as const).filter(
    ([, some]) => some.length > 0,
  );
}

function placeText({ file, line, column }: Pick<PlacedChange, 'file' | 'line' | 'column'>): string {
  return `${file}:${line}:${column}`;
}

function countsText(changes: readonly PlacedChange[]): string {
  function count(impact: Change['impact']): number {
    return changes.filter((change) => change.impact === impact).length;
  }
  const parts = [
    `${count('breaking')} breaking`,
    `${count('client-breaking')} breaking only for code`,
    `${count('safe')} safe`,
    `${count('documentation')} documentation only`,
  ];
  if (count('uncompared') > 0) parts.push(`${count('uncompared')} not compared`);
  return parts.join(', ');
}

function cell(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('|', '\\|').replaceAll(/\s+/g, ' ');
}

/** Escapes the text of a command of GitHub Actions. */
function data(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
