import { escapeUTF8 as escape } from 'entities';
import type { SettledFinding, SettledReport } from '../baseline.ts';
import { checkById } from '../checks.ts';
import type { Coverage } from '../coverage.ts';
import { VERDICTS, type Verdict } from '../finding.ts';
import { STYLE } from './html-style.ts';
import { summarise } from './summary.ts';
import { visible } from './visible.ts';

const MEANINGS: Readonly<Record<Verdict, string>> = {
  violation: 'An answer contradicts what the specification shows. The run fails.',
  learned: 'An answer contradicts what the document only assumes. The document can be corrected.',
  discovered: 'An answer has something that the document does not describe.',
  unverified: 'The document describes it, and no answer showed it. Never counted as passed.',
};

/** The report as one HTML page that needs nothing from anywhere. */
export function toHtml(report: SettledReport): string {
  const { verdict } = summarise(report);
  const title = `Contract of ${report.document.title}`;
  return visible(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escape(title)}: ${verdict}</title>
<style>${STYLE}</style>
</head>
<body>
<a class="skip" href="#findings">To the findings</a>
<header>
<h1>${escape(title)} <span class="verdict ${verdict}">${verdict}</span></h1>
<p class="soft">Version ${escape(report.document.version)} against ${escape(report.target)}, ${escape(report.mode)}, on ${escape(report.at)}, in ${report.milliseconds} ms, seed ${report.seed}</p>
<p class="said">${escape(said(report))}</p>
</header>
<nav aria-label="Parts of this page"><a href="#findings">Findings</a> <a href="#coverage">Coverage</a> <a href="#plan">What was allowed to be sent</a></nav>
<main>
${figures(report)}
${left(report)}
<section id="findings" aria-label="Findings">
${report.findings.length === 0 ? '<p>Nothing was found.</p>' : VERDICTS.map((kind) => findingsOf(report, kind)).join('')}
${settled(report)}
</section>
<h2 id="coverage">Coverage</h2>
<p class="soft">By operation: which statuses were answered, how often, and which were not; how many of the described fields were seen. Open one for its findings, its fields, seen (✓) or not (–), and for its checks.</p>
${report.coverage.map((row) => coverageOf(row, report)).join('')}
<h2 id="plan">What was allowed to be sent</h2>
<details><summary>${counted(report.plan.length, 'step')}</summary><div><ul>${report.plan.map((step) => `<li><code>${escape(step)}</code></li>`).join('')}</ul></div></details>
</main>
</body>
</html>
`);
}

/** What came of it, in a sentence or three. */
function said(report: SettledReport): string {
  const { verdict, counts, operations } = summarise(report);
  const open = report.findings.filter((finding) => finding.verdict === 'violation' && finding.accepted === undefined);
  const clients = open.filter(({ about }) => about === 'client').length;
  const what =
    verdict === 'passed'
      ? 'No answer contradicts what the document shows.'
      : [
          open.length > clients ? `The service contradicts its document in ${counted(open.length - clients, 'way')}.` : '',
          clients > 0 ? `Clients send what the document does not allow, in ${counted(clients, 'way')}.` : '',
        ].join(' ');
  const changes = counts.learned + counts.discovered;
  const missing = operations.all - operations.verified;
  const { amount, unknown } = report.spent;
  return [
    what,
    changes > 0 ? `The document can learn ${counted(changes, 'thing')}.` : '',
    missing > 0 ? `${counted(missing, 'operation')} of ${operations.all} not verified.` : 'Every operation was verified.',
    amount !== '0.00' || unknown > 0
      ? `Spent: ${amount}${unknown > 0 ? ` and ${counted(unknown, 'purchase')} of unknown price` : ''}.`
      : '',
  ]
    .filter((part) => part !== '')
    .join(' ');
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function figures(report: SettledReport): string {
  const { counts, operations, statuses, fields, requests, accepted, fixed } = summarise(report);
  const all: readonly (readonly [string | number, string])[] = [
    [counts.violation, 'violations'],
    [counts.learned, 'learned'],
    [counts.discovered, 'discovered'],
    [`${operations.verified}/<wbr>${operations.all}`, 'operations verified'],
    [`${statuses.seen}/<wbr>${statuses.all}`, 'described statuses seen'],
    [`${fields.seen}/<wbr>${fields.all}`, 'described fields seen'],
    [requests, 'requests'],
    ...(accepted + fixed > 0 ? ([[`${accepted} / ${fixed}`, 'accepted / fixed']] as const) : []),
  ];
  return `<div class="figures">${all.map(([value, name]) => `<div class="figure"><b>${value}</b><span>${name}</span></div>`).join('')}</div>`;
}

function left({ left: what }: SettledReport): string {
  if (what.length === 0) return '';
  return `<div class="note"><b>Left behind on the account</b><ul>${what.map((line) => `<li>${escape(line)}</li>`).join('')}</ul></div>`;
}

function findingsOf(report: SettledReport, verdict: Verdict): string {
  const found = report.findings.filter((finding) => finding.verdict === verdict && finding.accepted === undefined);
  if (found.length === 0) return '';
  return `<h2><span class="verdict ${verdict}">${verdict}</span> ${found.length}</h2><p class="soft">${MEANINGS[verdict]}</p>${found.map(findingOf).join('')}`;
}

function findingOf(finding: SettledFinding): string {
  const { check, about, message, touches, expected, observed, samples, source, client, curl, patch, id, expired, verdict } = finding;
  const where = touches.map(({ operation, status, times }) => `${escape(operation)} ${status}${times > 1 ? ` × ${times}` : ''}`).join(', ');
  const shown = samples.map(
    (sample) =>
      `<li><code>${escape(sample.pointer || 'the answer')}</code> of ${escape(sample.operation)}: ${escape(sample.observed)}</li>`,
  );
  return `<details${verdict === 'violation' ? ' open' : ''}><summary>${about === 'client' ? '<span class="verdict">client</span> ' : ''}<b>${escape(message)}</b> <span class="soft">${where}</span></summary><div id="${escape(id)}">
<table><tr><th scope="row">expected</th><td>${escape(expected)}</td></tr><tr><th scope="row">observed</th><td>${escape(observed)}</td></tr>
${source === undefined ? '' : `<tr><th scope="row">document</th><td><code>${escape(`${source.file}:${source.line}:${source.column}`)}</code></td></tr>`}
<tr><th scope="row">check</th><td><code>${escape(check)}</code> ${escape(checkById(check)?.claim ?? '')}</td></tr>
<tr><th scope="row">for your code</th><td>${escape(client)}</td></tr>
<tr><th scope="row">finding</th><td><code>${escape(id)}</code>${expired === undefined ? '' : ` accepted until ${escape(expired.expires)} by ${escape(expired.owner)}, which is over`}</td></tr></table>
${shown.length > 0 ? `<p>Seen at</p><ul>${shown.join('')}</ul>` : ''}
<p>To see it again</p><pre>${escape(curl)}</pre>
${patch === undefined ? '' : `<p>To describe it</p><pre>${diff(patch)}</pre>`}
</div></details>`;
}

function diff(patch: string): string {
  return patch
    .split('\n')
    .map((line) =>
      line.startsWith('+')
        ? `<span class="add">${escape(line)}</span>`
        : line.startsWith('-')
          ? `<span class="remove">${escape(line)}</span>`
          : escape(line),
    )
    .join('\n');
}

function settled({ findings, fixed }: SettledReport): string {
  const accepted = findings.filter((finding) => finding.accepted !== undefined);
  const rows = [
    ...accepted.map(
      ({ message, accepted: by }) =>
        `<tr><td>accepted</td><td>${escape(message)}</td><td>${escape(by?.reason ?? '')}</td><td>${escape(by?.owner ?? '')}, until ${escape(by?.expires ?? '')}</td></tr>`,
    ),
    ...fixed.map(
      ({ check, finding, reason, owner }) =>
        `<tr><td class="seen">fixed</td><td>${escape(check)} ${escape(finding)}</td><td>${escape(reason)}</td><td>${escape(owner)}</td></tr>`,
    ),
  ];
  return rows.length === 0
    ? ''
    : `<h2>Baseline</h2><div class="framed"><table><tr><th>state</th><th>finding</th><th>reason</th><th>owner</th></tr>${rows.join('')}</table></div>`;
}

function coverageOf(row: Coverage, { findings }: SettledReport): string {
  const seen = row.fields.filter((field) => field.seen).length;
  const share = row.fields.length === 0 ? 0 : Math.round((100 * seen) / row.fields.length);
  const statuses = row.statuses.map(({ status, described, times }) => {
    const text = `${escape(status)}${times > 0 ? ` × ${times}` : ''}${described ? '' : ' (not described)'}`;
    return `<span class="${described ? (times > 0 ? 'seen' : 'unseen') : 'undescribed'}">${text}</span>`;
  });
  const found = findings
    .filter(({ touches, accepted }) => accepted === undefined && touches.some(({ operation }) => operation === row.operation))
    .map(({ id, message }) => `<li><a href="#${escape(id)}">${escape(message)}</a></li>`);
  const fields = row.fields.map(({ field, seen: isSeen }) => `<li class="${isSeen ? 'seen' : 'unseen'}">${escape(field)}</li>`);
  const checks = row.checks.map(
    ({ check, outcome }) =>
      `<li class="${outcome === 'passed' ? 'seen' : outcome === 'not-performed' ? 'unseen' : 'undescribed'}">${escape(check)}: ${outcome}</li>`,
  );
  return `<details><summary class="row"><span><span class="verdict ${row.verdict}">${row.verdict}</span></span><span><b>${escape(row.operation)}</b><br><code>${escape(`${row.method} ${row.path}`)}</code></span><span class="soft">${statuses.join(', ')}</span><span class="soft"><span class="bar"><i style="width:${share}%"></i></span><br>${seen}/${row.fields.length} fields, ${counted(row.requests, 'request')}</span></summary><div>
${row.reason === '' ? '' : `<p class="soft">Not verified: ${escape(row.reason)}</p>`}
${found.length === 0 ? '' : `<p>Findings</p><ul>${found.join('')}</ul>`}
<p>Fields of success</p><ul class="columns">${fields.join('')}</ul><p>Checks</p><ul class="columns">${checks.join('')}</ul></div></details>`;
}
