import { visible } from '../exchange/visible.ts';
import { failureText } from '../judge/failures.ts';
import { VERDICTS } from '../judge/finding.ts';
import type { SettledFinding, SettledReport } from './baseline.ts';
import { summarise, summaryLine } from './summary.ts';

/** Renders the report as a Markdown summary, for example for a pull request. */
export function toMarkdown(report: SettledReport): string {
  const { verdict, statuses, fields } = summarise(report);
  const lines = [
    `# Contract of ${report.document.title}: ${verdict}`,
    '',
    `${report.target}, ${report.mode}, seed ${report.seed}. ${summaryLine(report)}; ${statuses.seen} of ${statuses.all} statuses and ${fields.seen} of ${fields.all} fields seen.`,
    '',
  ];
  if (report.failures.length > 0)
    lines.push('## Not complete, because of errors', '', ...report.failures.map((failure) => `- ${cell(failureText(failure))}`), '');
  for (const kind of VERDICTS) {
    const found = report.findings.filter((finding) => finding.verdict === kind && finding.accepted === undefined);
    if (found.length > 0) lines.push(`## ${kind} (${found.length})`, '', ...found.flatMap(section));
  }
  const accepted = report.findings.filter((finding) => finding.accepted !== undefined);
  if (accepted.length > 0)
    lines.push(
      '## Accepted',
      '',
      ...accepted.map(({ message, accepted: by }) => `- ${cell(message)}: ${cell(by?.reason ?? '')} (${by?.owner}, until ${by?.expires})`),
      '',
    );
  if (report.fixed.length > 0)
    lines.push(
      '## Fixed',
      '',
      ...report.fixed.map(
        ({ check, finding, reason }) => `- ${check} ${finding} no longer occurs: remove it from the baseline (${cell(reason)})`,
      ),
      '',
    );
  if (report.unfinished.length > 0) lines.push('## Not undone as planned', '', ...report.unfinished.map((what) => `- ${cell(what)}`), '');
  if (report.notes.length > 0) lines.push('## About the document', '', ...report.notes.map((what) => `- ${cell(what)}`), '');
  if (report.left.length > 0) lines.push('## Left behind', '', ...report.left.map((what) => `- ${cell(what)}`), '');
  lines.push('## Coverage', '', '| operation | verdict | statuses | fields | |', '| --- | --- | --- | --- | --- |');
  for (const row of report.coverage) {
    const seen = row.statuses.filter(({ times }) => times > 0).map(({ status }) => status);
    lines.push(`| ${row.operation} | ${row.verdict} | ${seen.join(' ')} | ${row.fields.seen}/${row.fields.all} | ${cell(row.reason)} |`);
  }
  return visible(`${lines.join('\n')}\n`);
}

function section(finding: SettledFinding): readonly string[] {
  const { message, touches, expected, observed, source, client, curl, patch, check, id, expired } = finding;
  return [
    `### ${cell(message)}`,
    '',
    `- check ${check}, finding \`${id}\`${expired === undefined ? '' : `, accepted until ${expired.expires} by ${expired.owner}`}`,
    `- seen on ${touches.map(({ operation, status, times }) => `${operation} ${status}${times > 1 ? ` (${times} times)` : ''}`).join(', ')}`,
    `- expected ${cell(expected)}, observed ${cell(observed)}`,
    ...(source === undefined ? [] : [`- ${source.file}:${source.line}:${source.column}`]),
    `- ${cell(client)}`,
    '',
    ...fenced('sh', curl),
    ...(patch === undefined ? [] : fenced('diff', patch.trimEnd())),
  ];
}

/** A code block whose fence is longer than any run of backticks in the text. */
function fenced(language: string, text: string): readonly string[] {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(Math.max(3, longest + 1));
  return [`${fence}${language}`, text, fence, ''];
}

/** Escapes a text for one line of Markdown. */
function cell(text: string): string {
  return text
    .replaceAll('\n', ' ')
    .replaceAll(/[\\|`<>*_[\]&~]/g, (found) => `\\${found}`)
    .replace(/^(?=[-+#])/, '\\')
    .replace(/^(\d+)(?=[.)])/, '$1\\');
}
