import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toHar, toHtml, toJunit, toMarkdown, toSarif, type SettledReport } from '@reseller/contract/engine';
import { withoutSecrets } from './console.ts';

/** Writes every kind of report into a folder, all made from the same JSON. */
export async function writeReports(directory: string, report: SettledReport, secrets: readonly string[]): Promise<void> {
  const files: Readonly<Record<string, string>> = {
    'report.json': `${JSON.stringify(report, null, 2)}\n`,
    'junit.xml': toJunit(report),
    'report.sarif': toSarif(report),
    'index.html': toHtml(report),
    'summary.md': toMarkdown(report),
    'traffic.har': toHar(report),
    'proposals.diff': [...new Set(report.findings.map(({ patch }) => patch ?? ''))].filter((patch) => patch !== '').join('\n'),
  };
  await mkdir(directory, { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), withoutSecrets(text, secrets));
}
