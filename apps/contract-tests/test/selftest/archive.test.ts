/** A service of files and jobs: uploads in parts, ranges, pages by `Link`, two kinds of patches, polling and two credentials. */
import { runContract } from '@reseller/contract/engine';
import type { Report } from '@reseller/contract/engine';
import { describe, expect, test } from 'vitest';

import { byDepth } from '../../../../.config/depth.ts';
import { memoryJournal } from '../memory-journal.ts';
import { ARCHIVE } from './archive-document.ts';
import { DEFECTS, KEYS, startArchive } from './archive.ts';
import type { Defect } from './archive.ts';

async function judge(...defects: readonly Defect[]): Promise<Report> {
  const { url } = await startArchive(...defects);
  const also = new Map(['uploadFile', 'changeFile', 'createJob'].map((id) => [id, undefined]));
  return runContract({ document: ARCHIVE, target: url, credentials: KEYS, mode: 'full', also, journal: memoryJournal() });
}

function found({ findings }: Report): Report['findings'] {
  return findings.filter(({ verdict }) => verdict !== 'unverified');
}

test('an archive that conforms to its document has no findings, and nothing remains', async () => {
  const report = await judge();
  expect(report.findings.map(({ verdict, check, message }) => `${verdict} ${check}: ${message}`)).toEqual([]);
  expect(report.unfinished).toEqual([]);
});

const names = Object.keys(DEFECTS).filter((name): name is Defect => name in DEFECTS);

/** Each defect is a run of its own. */
const chosen = byDepth({ usual: names.filter((_, index) => index % 8 === 0), deep: names });

describe('finds an archive that', () => {
  test.each(chosen)('%s', async (defect) => {
    const operations: readonly string[] = DEFECTS[defect];
    const findings = found(await judge(defect));
    expect(findings).not.toEqual([]);
    const others = findings.filter(({ touches }) => !touches.some(({ operation }) => operations.includes(operation)));
    expect(others.map(({ message }) => message)).toEqual([]);
  });
});
