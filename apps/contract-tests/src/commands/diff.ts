import { diffDocuments, IMPACTS } from '@reseller/contract/engine';
import type { Change } from '@reseller/contract/engine';

import type { Console } from '../console.ts';
import { safeConsole } from '../console.ts';
import { openDocument, sourcesOf } from '../document.ts';
import type { Arguments } from '../options.ts';

const HEADINGS = { breaking: 'Breaking', uncompared: 'Not compared', safe: 'Safe', documentation: 'Documentation only' } as const;

/**
 * Prints the changes between two documents.
 * @returns 1 when a change is breaking, else 2 when a change was not compared, else 0
 */
export async function compareDocuments({ files }: Arguments, output: Console): Promise<0 | 1 | 2> {
  const [old = '', now = ''] = files;
  const [before, after] = [await openDocument(old), await openDocument(now)];
  const changes = diffDocuments(before.document, after.document);
  const safe = safeConsole(output, []);
  for (const note of new Set([...before.notes, ...after.notes])) safe.print(note);
  if (changes.length === 0) {
    safe.print('The documents describe the same API.');
    return 0;
  }
  const [were, are] = [await sourcesOf(before), await sourcesOf(after)];
  function placeOf({ at, isRemoved }: Change): string {
    const { file, line, column } = (isRemoved ? were : are).locate(at);
    return `${file}:${line}:${column}`;
  }
  for (const impact of IMPACTS) {
    const some = changes.filter((change) => change.impact === impact);
    if (some.length === 0) continue;
    safe.print(`${HEADINGS[impact]} (${some.length})`);
    for (const change of some)
      safe.print(`  ${change.what}\n    ${change.operations.join(', ') || 'the whole document'}  ${placeOf(change)}\n    ${change.client}`);
  }
  function count(impact: Change['impact']): number {
    return changes.filter((change) => change.impact === impact).length;
  }
  const parts = [`${count('breaking')} breaking`, `${count('safe')} safe`, `${count('documentation')} documentation only`];
  if (count('uncompared') > 0) parts.push(`${count('uncompared')} not compared`);
  safe.print(parts.join(', '));
  return count('breaking') > 0 ? 1 : count('uncompared') > 0 ? 2 : 0;
}
