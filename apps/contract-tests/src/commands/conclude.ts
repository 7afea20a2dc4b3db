import { isFailed } from '@reseller/contract/engine';
import type { Report } from '@reseller/contract/engine';

import { CannotRunError } from '../cannot-run.ts';
import type { Console } from '../console.ts';
import { writeProposals } from '../document.ts';
import type { LoadedDocument } from '../document.ts';
import type { Arguments } from '../options.ts';
import { renderReport } from '../render.ts';
import { settleReport } from '../settle-report.ts';
import { writeReports } from '../write-reports.ts';

interface Conclusion {
  readonly report: Report;
  readonly loaded: LoadedDocument;
  readonly args: Pick<Arguments, 'baseline' | 'failOn' | 'quiet' | 'report' | 'write'>;
  readonly output: Console;
  readonly secrets: readonly string[];
}

/** The exit code of a run that leaves changes which it should have undone. */
export const CHANGES_REMAIN = 3;
/** The exit code of a run that failed after its first request. Its report has what was found. */
const INCOMPLETE = 4;

export type ExitCode = 0 | 1 | 3 | 4;

/** Applies the baseline to a report, prints it, and writes reports and proposals. */
export async function conclude({ report, loaded, args, output, secrets }: Conclusion): Promise<ExitCode> {
  const settled = await settleReport(report, loaded, args.baseline, args.failOn);
  let isIncomplete = settled.failures.length > 0;
  output.print(renderReport(settled, { folder: args.report, isQuiet: args.quiet }));
  if (args.report !== undefined) {
    const unwritten = await writeReports(args.report, settled, secrets);
    output.print([`Reports: ${args.report}`, ...unwritten.map((problem) => `  This file could not be written: ${problem}`)].join('\n'));
    isIncomplete ||= unwritten.length > 0;
  }
  if (args.write && loaded.isUpgraded)
    throw new CannotRunError(
      '--write needs a document in OpenAPI 3.1; this one has an earlier version and was only read as 3.1. Upgrade it first.',
    );
  if (args.write) {
    const open = settled.findings.filter(({ accepted }) => accepted === undefined);
    const files = await writeProposals(loaded, open);
    output.print(
      files.length === 0
        ? 'There was nothing to write into the document.'
        : `Changed: ${files.map((file) => file.slice(loaded.base.length + 1)).join(', ')}. Review each change before you commit it.`,
    );
  }
  if (settled.unfinished.length > 0) return CHANGES_REMAIN;
  return isIncomplete ? INCOMPLETE : isFailed(settled) ? 1 : 0;
}
