import { runContract, TargetError, type ContractReport } from '@reseller/contract';
import { CannotRunError } from './cannot-run.ts';
import { loadDocument } from './document.ts';
import { readOptions, USAGE, type CommandOptions, type Environment } from './options.ts';
import { renderReport } from './render.ts';

/** Takes one line of output. */
export type Print = (line: string) => void;

/**
 * The whole command but the process.
 * @param argv arguments after the script
 * @returns the exit code: 0 nothing failed, 1 violations, 2 could not run
 */
export async function runCommand(argv: readonly string[], environment: Environment, print: Print): Promise<0 | 1 | 2> {
  try {
    const options = await readOptions(argv, environment);
    if (options === undefined) {
      print(USAGE);
      return 0;
    }
    const report = await check(options);
    print(renderReport(report, options.target));
    return report.findings.some((finding) => finding.verdict === 'violation') ? 1 : 0;
  } catch (error) {
    // An error that nobody foresaw must not end with the code that means violations.
    print(error instanceof CannotRunError ? error.message : `The run failed: ${error instanceof Error ? error.message : String(error)}`);
    return 2;
  }
}

async function check({ target, apiKey }: CommandOptions): Promise<ContractReport> {
  try {
    const report = await runContract({ document: await loadDocument(), target, apiKey });
    rejectEmptyRun(report, target);
    return report;
  } catch (error) {
    if (error instanceof TargetError)
      throw new CannotRunError(`${error.message}. Start the service there (pnpm start for the sandbox), or name another with --target.`, {
        cause: error,
      });
    throw error;
  }
}

/** A run in which no operation succeeded has checked nothing, and must not look like one that found nothing. */
function rejectEmptyRun({ coverage, findings }: ContractReport, target: URL): void {
  if (coverage.some((row) => row.verified) || findings.some((finding) => finding.verdict === 'violation')) return;
  const statuses = [...new Set(coverage.flatMap((row) => row.statuses))];
  if (statuses.length > 0 && statuses.every((status) => status === 401 || status === 403)) {
    throw new CannotRunError(
      `${target.origin} refuses the API key (${statuses.join(', ')}). Check RESELLER_API_KEY, or for a sandbox that was reset, .data/demo-api-key.`,
    );
  }
  throw new CannotRunError(
    `No operation at ${target.href} answered with success (only ${statuses.join(', ')}), so nothing was checked. Is this the base address of the API?`,
  );
}
