import type { ContractReport, Coverage, Finding } from '@reseller/contract';

/** A report for people: one line an operation, then what was found, then what was not verified. */
export function renderReport(report: ContractReport, target: URL): string {
  const { coverage, findings } = report;
  const sections = [`Contract of ${target.href}, read-only`, table(coverage.filter((row) => row.statuses.length > 0))];
  if (findings.length > 0) sections.push(['Findings', ...findings.map(renderFinding)].join('\n\n'));
  const unverified = coverage.filter((row) => !row.verified);
  if (unverified.length > 0)
    sections.push(['Unverified (neither passed nor failed)', ...columns(unverified.map((row) => [row.operation, row.reason]))].join('\n'));
  sections.push(summary(report));
  return sections.join('\n\n');
}

function table(rows: readonly Coverage[]): string {
  const cells = rows.map((row) => [row.operation, `${row.method} ${row.path}`, row.statuses.join(' '), row.verdict]);
  return columns([['Operation', 'Request', 'Status', 'Verdict'], ...cells]).join('\n');
}

function renderFinding({ verdict, check, operation, status, message, expected, observed, times }: Finding): string {
  const often = times > 1 ? ` (${times} times)` : '';
  return [
    `${verdict}  ${operation} ${status}  ${printable(message)}${often}`,
    `  expected  ${printable(expected)}`,
    `  observed  ${printable(observed)}`,
    `  check     ${check}`,
  ].join('\n');
}

function summary({ coverage, findings, answers }: ContractReport): string {
  const verified = coverage.filter((row) => row.verified).length;
  const counts = (['violation', 'learned', 'discovered'] as const).map(
    (verdict) => `${findings.filter((finding) => finding.verdict === verdict).length} ${verdict}`,
  );
  return `${answers} answers judged; ${verified} of ${coverage.length} operations verified, ${coverage.length - verified} unverified; ${counts.join(', ')}`;
}

function columns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths: number[] = [];
  for (const row of rows) row.forEach((cell, index) => (widths[index] = Math.max(widths[index] ?? 0, cell.length)));
  return rows.map((row) =>
    `  ${row.map((cell, index) => (index === row.length - 1 ? cell : cell.padEnd(widths[index] ?? 0))).join('  ')}`.trimEnd(),
  );
}

/** What a server sent must not steer the terminal. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, '\u{FFFD}');
}
