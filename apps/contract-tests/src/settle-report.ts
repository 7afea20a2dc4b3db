import { readFile } from 'node:fs/promises';

import { errorText } from '@reseller/contract';
import { BaselineError, placeFindings, readBaseline, settle } from '@reseller/contract/engine';
import type { Report, SettledReport, Verdict } from '@reseller/contract/engine';

import { CannotRunError } from './cannot-run.ts';
import { sourcesOf } from './document.ts';
import type { LoadedDocument } from './document.ts';

/** Adds source locations to the findings of a report, and applies a baseline. */
export async function settleReport(
  report: Report,
  loaded: LoadedDocument,
  baseline: string | undefined,
  failOn: Verdict,
): Promise<SettledReport> {
  const accepted = baseline === undefined ? [] : await readAccepted(baseline);
  const today = new Date().toISOString().slice(0, 10);
  if (report.findings.length === 0) return settle(report, accepted, today, failOn);
  try {
    const findings = placeFindings(report.findings, await sourcesOf(loaded), loaded.base);
    return settle({ ...report, findings }, accepted, today, failOn);
  } catch (error) {
    // The findings are worth more than their lines in the files.
    const failure = { error: errorText(error), where: 'the places of findings in the files of the document', times: 1 };
    return settle({ ...report, failures: [...report.failures, failure] }, accepted, today, failOn);
  }
}

/**
 * Reads the accepted findings of a baseline.
 * @throws {CannotRunError} when the file is unusable
 */
export async function readAccepted(file: string): Promise<ReturnType<typeof readBaseline>> {
  try {
    return readBaseline(await readFile(file, 'utf8'));
  } catch (error) {
    throw new CannotRunError(error instanceof BaselineError ? error.message : `The baseline ${file} cannot be read.`, { cause: error });
  }
}
