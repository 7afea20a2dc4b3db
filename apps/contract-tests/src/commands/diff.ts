import { diffDocuments, IMPACTS, type Change } from '@reseller/contract/engine';
import type { Console } from '../console.ts';
import { guarded } from '../console.ts';
import { openDocument, sourcesOf } from '../document.ts';
import type { Arguments } from '../options.ts';

const HEADINGS = { breaking: 'Breaking', safe: 'Safe', documentation: 'Documentation only' } as const;

/** Says what the change from one document to another means; exit code 1 where something breaks. */
export async function compareDocuments({ files }: Arguments, output: Console): Promise<0 | 1> {
  const [old = '', now = ''] = files;
  const [before, after] = [await openDocument(old), await openDocument(now)];
  const changes = diffDocuments(before.document, after.document);
  const safe = guarded(output, []);
  if (changes.length === 0) {
    safe.print('Nothing changed that anybody would notice.');
    return 0;
  }
  const [were, are] = [await sourcesOf(before), await sourcesOf(after)];
  const placeOf = ({ at, what }: Change): string => {
    const { file, line, column } = (what.endsWith('is gone') ? were : are).locate(at);
    return `${file}:${line}:${column}`;
  };
  for (const impact of IMPACTS) {
    const some = changes.filter((change) => change.impact === impact);
    if (some.length === 0) continue;
    safe.print(`${HEADINGS[impact]} (${some.length})`);
    for (const change of some)
      safe.print(`  ${change.what}\n    ${change.operations.join(', ') || 'the whole document'}  ${placeOf(change)}\n    ${change.client}`);
  }
  const count = (impact: Change['impact']): number => changes.filter((change) => change.impact === impact).length;
  safe.print(`${count('breaking')} breaking, ${count('safe')} safe, ${count('documentation')} documentation only`);
  return count('breaking') > 0 ? 1 : 0;
}
