import { summaryLine, type Report, type SettledFinding, type SettledReport } from '@reseller/contract/engine';

type Coverage = Report['coverage'][number];

/** A report for people: one line an operation, then what was found, then what was not verified. */
export function renderReport(report: SettledReport): string {
  const { coverage, findings, fixed, left, unfinished } = report;
  const open = findings.filter(({ accepted }) => accepted === undefined);
  const sections = [
    `Contract of ${report.target}, ${report.mode}, seed ${report.seed}`,
    table(coverage.filter(({ requests }) => requests > 0)),
  ];
  if (open.length > 0) sections.push(['Findings', ...open.map(renderFinding)].join('\n\n'));
  if (fixed.length > 0)
    sections.push(
      ['Fixed: take these off the baseline', ...columns(fixed.map(({ finding, check, reason }) => [finding, check, reason]))].join('\n'),
    );
  if (unfinished.length > 0) sections.push(['Planned to be undone, and not undone', ...unfinished.map((line) => `  ${line}`)].join('\n'));
  if (left.length > 0) sections.push(['Left behind on the account', ...left.map((line) => `  ${line}`)].join('\n'));
  const { spent } = report;
  if (spent.amount !== '0.00' || spent.unknown > 0)
    sections.push(`Spent: ${spent.amount}${spent.unknown === 0 ? '' : `, and ${spent.unknown} purchases of unknown price`}`);
  const unverified = coverage.filter((row) => !row.verified);
  if (unverified.length > 0)
    sections.push(['Unverified (neither passed nor failed)', ...columns(unverified.map((row) => [row.operation, row.reason]))].join('\n'));
  sections.push(summaryLine(report));
  return sections.join('\n\n');
}

function table(rows: readonly Coverage[]): string {
  const cells = rows.map((row) => [
    row.operation,
    `${row.method} ${row.path}`,
    row.statuses
      .filter(({ times }) => times > 0)
      .map(({ status }) => status)
      .join(' '),
    row.verdict,
  ]);
  return columns([['Operation', 'Request', 'Status', 'Verdict'], ...cells]).join('\n');
}

function renderFinding(finding: SettledFinding): string {
  const { verdict, about, check, message, expected, observed, touches, source, client, curl, patch, id, expired } = finding;
  const where = touches.map(({ operation, status, times }) => `${operation} ${status}${times > 1 ? ` (${times} times)` : ''}`).join(', ');
  return [
    `${verdict}${about === 'client' ? ' of the client' : ''}  ${message}`,
    `  seen on   ${where}`,
    `  expected  ${expected}`,
    `  observed  ${observed}`,
    ...(source === undefined ? [] : [`  document  ${source.file}:${source.line}:${source.column}`]),
    `  check     ${check} (finding ${id})`,
    ...(expired === undefined
      ? []
      : [`  baseline  accepted by ${expired.owner} until ${expired.expires}, which is over: ${expired.reason}`]),
    `  client    ${client}`,
    `  again     ${curl}`,
    ...(patch === undefined
      ? []
      : [
          '  proposal',
          ...patch
            .split('\n')
            .slice(2)
            .filter((line) => line !== '')
            .map((line) => `    ${line}`),
        ]),
  ].join('\n');
}

/** Rows as text in columns, indented by two. */
export function columns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths: number[] = [];
  for (const row of rows) row.forEach((cell, index) => (widths[index] = Math.max(widths[index] ?? 0, cell.length)));
  return rows.map((row) =>
    `  ${row.map((cell, index) => (index === row.length - 1 ? cell : cell.padEnd(widths[index] ?? 0))).join('  ')}`.trimEnd(),
  );
}
