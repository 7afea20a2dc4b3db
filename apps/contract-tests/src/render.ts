import { failureText, summarise, summaryLine, VERDICTS } from '@reseller/contract/engine';
import type { Report, SettledFinding, SettledReport } from '@reseller/contract/engine';

type Coverage = Report['coverage'][number];

/** Longer values are truncated on a terminal. Other reports have the complete values. */
const MAX_VALUE_LENGTH = 160;
/** The most operations in one line. */
const NAMES_IN_LINE = 4;
/** The maximum numbers of operations of one finding, and of unverified findings, on a terminal. */
const MAX_OPERATIONS = 5;
const MAX_UNVERIFIED = 15;

/** The most lines of a report on a terminal. */
const MAX_LINES = 100;
/** The most lines of a proposal on a terminal. */
const MAX_PATCH_LINES = 12;

/**
 * Renders a report for a terminal: the result, the remaining changes, the findings with the most severe first, and the operations.
 * @param folder the folder with the whole report, if there is one
 */
export function renderReport(report: SettledReport, { folder, isQuiet = false }: RenderOptions = {}): string {
  const sections = sectionsOf(report, isQuiet);
  const lines = sections.join('\n\n').split('\n');
  if (lines.length <= MAX_LINES) return lines.join('\n');
  const where = folder === undefined ? '--report DIR writes all of it' : `all of it is in ${folder}`;
  return [...lines.slice(0, MAX_LINES - 1), `… ${lines.length - MAX_LINES + 1} more lines: ${where}`].join('\n');
}

export interface RenderOptions {
  readonly folder?: string | undefined;
  /** Whether to show only the result and the remaining changes. */
  readonly isQuiet?: boolean;
}

function sectionsOf(report: SettledReport, isQuiet: boolean): readonly string[] {
  const { coverage, failures, findings, fixed, left, unfinished, notes, spent } = report;
  const open = findings.filter(({ accepted }) => accepted === undefined);
  const found = open.filter(({ verdict }) => verdict !== 'unverified');
  const sections = [
    [
      `${summarise(report).verdict}  ${report.document.title} ${report.document.version} at ${report.target}, ${report.mode}, seed ${report.seed}`,
      summaryLine(report),
    ].join('\n'),
  ];
  if (failures.length > 0)
    sections.push(['Not complete, because of errors', ...failures.map((failure) => `  ${shortened(failureText(failure))}`)].join('\n'));
  if (unfinished.length > 0) sections.push(['Not undone as planned', ...unfinished.map((line) => `  ${line}`)].join('\n'));
  if (left.length > 0) sections.push(['Left behind on the account', ...left.map((line) => `  ${line}`)].join('\n'));
  if (isQuiet) return sections;
  if (notes.length > 0) sections.push(['About the document', ...notes.map((line) => `  ${line}`)].join('\n'));
  if (found.length > 0) sections.push(['Findings', ...found.map(renderFinding)].join('\n\n'));
  if (fixed.length > 0)
    sections.push(
      ['Fixed: remove these from the baseline', ...columns(fixed.map(({ finding, check, reason }) => [finding, check, reason]))].join('\n'),
    );
  if (spent.amount !== '0.00' || spent.unknown > 0)
    sections.push(`Spent: ${spent.amount}${spent.unknown === 0 ? '' : `, and ${counted(spent.unknown, 'purchase')} of unknown price`}`);
  const judged = coverage.filter(({ requests, verdict }) => requests > 0 && verdict !== 'unverified');
  if (judged.length > 0) sections.push(table(judged));
  sections.push(...unverifiedOperations(coverage.filter((row) => !row.verified)));
  sections.push(...unverifiedFindings(open.filter(({ verdict }) => verdict === 'unverified')));
  return sections;
}

export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
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
  const { verdict, about, check, message, expected, observed, source, client, curl, patch, id, expired } = finding;
  return [
    `${verdict}${about === 'client' ? ' of the client' : ''}  ${shortened(message)}`,
    `  seen on   ${places(finding)}`,
    `  expected  ${shortened(expected)}`,
    `  observed  ${shortened(observed)}`,
    ...(source === undefined ? [] : [`  document  ${source.file}:${source.line}:${source.column}`]),
    `  check     ${check} (finding ${id})`,
    ...(expired === undefined
      ? []
      : [`  baseline  accepted by ${expired.owner} until ${expired.expires}, which has expired: ${expired.reason}`]),
    `  client    ${client}`,
    `  again     ${curl}`,
    ...(patch === undefined ? [] : ['  proposal', ...patchLines(patch)]),
  ].join('\n');
}

function patchLines(patch: string): readonly string[] {
  const lines = patch
    .split('\n')
    .slice(2)
    .filter((line) => line !== '');
  const shown = lines.slice(0, MAX_PATCH_LINES).map((line) => `    ${shortened(line)}`);
  return lines.length > MAX_PATCH_LINES ? [...shown, `    … ${lines.length - MAX_PATCH_LINES} more lines`] : shown;
}

function places({ touches }: SettledFinding): string {
  const shown = touches
    .slice(0, MAX_OPERATIONS)
    .map(({ operation, status, times }) => `${operation} ${status}${times > 1 ? ` (${times} times)` : ''}`);
  const more = touches.length - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ');
}

/** Lists operations without a described success, by the reason. */
function unverifiedOperations(rows: readonly Coverage[]): readonly string[] {
  if (rows.length === 0) return [];
  const byReason = [...Map.groupBy(rows, ({ reason }) => reason)].flatMap(([reason, of]) => {
    const names = of.map(({ operation }) => operation);
    const lines = names.flatMap((_, at) => (at % NAMES_IN_LINE === 0 ? [names.slice(at, at + NAMES_IN_LINE).join(', ')] : []));
    return [`  ${reason} (${of.length}):`, ...lines.map((line) => `    ${line}`)];
  });
  return [[`Unverified operations (${rows.length})`, ...byReason].join('\n')];
}

/** The check with many unverified findings for an account with little data. They come last. */
const COMMON = 'part-seen';

/** Renders unverified findings, one line each. */
function unverifiedFindings(findings: readonly SettledFinding[]): readonly string[] {
  if (findings.length === 0) return [];
  const lines = [...findings.filter(({ check }) => check !== COMMON), ...findings.filter(({ check }) => check === COMMON)]
    .slice(0, MAX_UNVERIFIED)
    .map((finding) => `  ${shortened(`${finding.message} (${finding.observed})`)}  ${places(finding)}`);
  const more = findings.length - lines.length;
  return [
    [
      `Other unverified parts (${findings.length})`,
      ...lines,
      ...(more > 0 ? [`  and ${more} more; --report DIR lists all of them`] : []),
    ].join('\n'),
  ];
}

function shortened(text: string): string {
  return text.length <= MAX_VALUE_LENGTH ? text : `${text.slice(0, MAX_VALUE_LENGTH)}… (${text.length} characters)`;
}

/** Aligns rows in columns, indented by two spaces. */
export function columns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths: number[] = [];
  for (const row of rows) row.forEach((cell, index) => (widths[index] = Math.max(widths[index] ?? 0, cell.length)));
  return rows.map((row) =>
    `  ${row.map((cell, index) => (index === row.length - 1 ? cell : cell.padEnd(widths[index] ?? 0))).join('  ')}`.trimEnd(),
  );
}

const COLOURS = {
  violation: 'red',
  failed: 'red',
  discovered: 'blue',
  learned: 'yellow',
  unverified: 'gray',
  passed: 'green',
  accepted: 'gray',
} as const;
const COLOURED = [...VERDICTS, 'passed', 'failed', 'accepted'] as const;
/** A verdict in the last column of a table. */
const AT_END = new RegExp(`^(.* {2})(${COLOURED.join('|')})()$`);
const AT_BEGINNING = new RegExp(`^( {0,2})(${COLOURED.join('|')})((?: {2}| of the client).*)$`);

/**
 * Colours verdicts at the beginning or end of lines, the lines of proposals, and headings.
 * @param paint colours a text. It is called after control characters were removed, so that a service cannot send colours.
 */
export function coloured(
  text: string,
  paint: (colour: 'red' | 'green' | 'blue' | 'yellow' | 'gray' | 'bold', text: string) => string,
): string {
  return text
    .split('\n')
    .map((line) => {
      const [, before = '', word, after = ''] = AT_END.exec(line) ?? AT_BEGINNING.exec(line) ?? [];
      const verdict = COLOURED.find((one) => one === word);
      if (verdict !== undefined) return before + paint(COLOURS[verdict], verdict) + after;
      if (/^ {4}\+/.test(line)) return paint('green', line);
      if (/^ {4}-/.test(line)) return paint('red', line);
      return /^[A-Z][^.:]*$/.test(line) ? paint('bold', line) : line;
    })
    .join('\n');
}
