import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';

import { errorText } from '@reseller/contract';
import { toHar, toJunit, toMarkdown, toNodeTest, toSarif } from '@reseller/contract/engine';
import type { SettledReport } from '@reseller/contract/engine';

import { CannotRunError } from './cannot-run.ts';
import { withoutSecrets } from './console.ts';

/**
 * Creates the folder for reports.
 * @throws {CannotRunError} when it cannot be created
 */
export async function makeReportFolder(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true }).catch((error: unknown) => {
    throw new CannotRunError(`The folder ${directory} for the reports cannot be created. Choose another with --report.`, { cause: error });
  });
}

const FILES: Readonly<Record<string, (report: SettledReport) => string>> = {
  'report.json': (report) => `${JSON.stringify(report, null, 2)}\n`,
  'junit.xml': toJunit,
  'report.sarif': (report) => toSarif(report, inRepository),
  'summary.md': toMarkdown,
  'traffic.har': toHar,
};

/**
 * Writes the reports in all formats to a folder.
 * @returns the files that could not be written, with the reason. The others are written all the same
 */
export async function writeReports(directory: string, report: SettledReport, secrets: readonly string[]): Promise<readonly string[]> {
  await makeReportFolder(directory);
  const problems: string[] = [];
  for (const [name, render] of Object.entries(FILES)) {
    try {
      await writeFile(join(directory, name), withoutSecrets(render(report), secrets));
    } catch (error) {
      problems.push(`${name}: ${errorText(error)}`);
    }
  }
  await writeTests(join(directory, 'tests'), report, secrets).catch((error: unknown) => problems.push(`tests: ${errorText(error)}`));
  return problems;
}

/** Writes a test for each finding, in place of those of an earlier run. An unverified finding has none, because it shows no defect. */
async function writeTests(directory: string, report: SettledReport, secrets: readonly string[]): Promise<void> {
  await mkdir(directory, { recursive: true });
  const earlier = (await readdir(directory)).filter((name) => /^f-[0-9a-f]{12}(?:-[a-z]+)?\.test\.mjs$/.test(name));
  for (const name of earlier) await rm(join(directory, name));
  const written = new Set<string>();
  for (const finding of report.findings.filter(({ verdict }) => verdict !== 'unverified')) {
    // One cause can have two verdicts, which are two findings with one id.
    const name = written.has(finding.id) ? `${finding.id}-${finding.verdict}` : finding.id;
    written.add(name);
    await writeFile(join(directory, `${name}.test.mjs`), withoutSecrets(toNodeTest(report, finding), secrets));
  }
}

/** The path of a file relative to the root of its Git repository; the path itself outside of a repository. */
function inRepository(file: string): string {
  const path = resolve(file);
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder))
    if (existsSync(join(folder, '.git'))) return relative(folder, path);
  return file;
}
