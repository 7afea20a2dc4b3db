import { createHash } from 'node:crypto';

import { counted } from '../document/messages.ts';
import { visible } from '../exchange/visible.ts';
import type { Coverage } from '../judge/coverage.ts';
import { VERDICTS } from '../judge/finding.ts';
import type { Verdict } from '../judge/finding.ts';
import type { SettledFinding, SettledReport } from './baseline.ts';
import { Html, joined, markup } from './escaped.ts';
import type { Content } from './escaped.ts';
import { SEARCH_SCRIPT } from './html-search.ts';
import { STYLE } from './html-style.ts';
import { summarise } from './summary.ts';

const MEANINGS: Readonly<Record<Verdict, string>> = {
  violation: 'A response contradicts what the specification shows. The run fails.',
  learned: 'A response contradicts an assumption of the document. The document can be corrected.',
  discovered: 'A response has something that the document does not describe.',
  unverified: 'The document describes it, but no response had it. It does not count as passed.',
};

/** The hash of the only script that the page allows. */
const SEARCH_HASH = createHash('sha256').update(SEARCH_SCRIPT).digest('base64');

/** Renders the report as one HTML page without external resources. */
export function toHtml(report: SettledReport): string {
  const { verdict } = summarise(report);
  const title = `Contract of ${report.document.title}`;
  const page = markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-${SEARCH_HASH}'">
<title>${title}: ${verdict}</title>
<style>${new Html(STYLE)}${filterRules(report)}</style>
</head>
<body>
<a class="skip" href="#findings">Skip to the findings</a>
<header>
<h1>${title} <span class="verdict ${verdict}">${verdict}</span></h1>
<p class="soft">Version ${report.document.version} against ${report.target}, ${report.mode}, on ${report.at}, in ${report.milliseconds} ms, seed ${report.seed}</p>
<p class="said">${summaryText(report)}</p>
</header>
<nav aria-label="Parts of this page"><a href="#findings">Findings</a> <a href="#coverage">Coverage</a> <a href="#plan">Planned requests</a></nav>
<main>
${figures(report)}
${unfinished(report)}
${left(report)}
${notes(report)}
${filters(report)}
<section id="findings" aria-label="Findings">
${report.findings.length === 0 ? markup`<p>No findings.</p>` : VERDICTS.map((kind) => findingsOf(report, kind))}
${settled(report)}
</section>
<h2 id="coverage">Coverage</h2>
<p class="soft">For each operation: the statuses of its responses and how often they occurred, and how many of the described fields were seen. Open an operation for its findings and its checks.</p>
${report.coverage.map((row) => coverageOf(row, report))}
<h2 id="plan">Planned requests</h2>
<details><summary>${counted(report.plan.length, 'step')}</summary><div><ul>${report.plan.map((step) => markup`<li><code>${step}</code></li>`)}</ul></div></details>
</main>
${report.findings.length === 0 ? undefined : markup`<script>${new Html(SEARCH_SCRIPT)}</script>`}
</body>
</html>
`;
  return visible(page.text);
}

/** Summarises the result in a few sentences. */
function summaryText(report: SettledReport): string {
  const { counts, operations } = summarise(report);
  const open = report.findings.filter((finding) => finding.verdict === 'violation' && finding.accepted === undefined);
  const clients = open.filter(({ about }) => about === 'client').length;
  const changes = counts.learned + counts.discovered;
  const missing = operations.all - operations.verified;
  const { amount, unknown } = report.spent;
  return [
    open.length === 0 ? 'No response contradicts what the document shows.' : '',
    open.length > clients ? `The service contradicts its document in ${counted(open.length - clients, 'way')}.` : '',
    clients > 0 ? `Clients send what the document does not allow, in ${counted(clients, 'way')}.` : '',
    changes > 0 ? `The document can learn ${counted(changes, 'thing')}.` : '',
    missing > 0 ? `${counted(missing, 'operation')} of ${operations.all} not verified.` : 'Every operation was verified.',
    amount !== '0.00' || unknown > 0
      ? `Spent: ${amount}${unknown > 0 ? ` and ${counted(unknown, 'purchase')} of unknown price` : ''}.`
      : '',
  ]
    .filter((part) => part !== '')
    .join(' ');
}

function figures(report: SettledReport): Html {
  const { counts, operations, statuses, fields, requests, accepted, fixed } = summarise(report);
  function share(seen: number, all: number): Html {
    return markup`${seen}/<wbr>${all}`;
  }
  const all: readonly (readonly [value: string | number | Html, name: string])[] = [
    [counts.violation, 'violations'],
    [counts.learned, 'learned'],
    [counts.discovered, 'discovered'],
    [share(operations.verified, operations.all), 'operations verified'],
    [share(statuses.seen, statuses.all), 'described statuses seen'],
    [share(fields.seen, fields.all), 'described fields seen'],
    [requests, 'requests'],
    ...(accepted + fixed > 0 ? ([[`${accepted} / ${fixed}`, 'accepted / fixed']] as const) : []),
  ];
  return markup`<div class="figures">${all.map(([value, name]) => markup`<div class="figure"><b>${value}</b><span>${name}</span></div>`)}</div>`;
}

function left({ left: lines }: SettledReport): Html | undefined {
  if (lines.length === 0) return undefined;
  return markup`<div class="note"><b>Left behind on the account</b><ul>${lines.map((line) => markup`<li>${line}</li>`)}</ul></div>`;
}

function unfinished({ unfinished: lines }: SettledReport): Html | undefined {
  if (lines.length === 0) return undefined;
  return markup`<div class="note failed"><b>Not undone as planned</b><ul>${lines.map((line) => markup`<li>${line}</li>`)}</ul></div>`;
}

function notes({ notes: lines }: SettledReport): Html | undefined {
  if (lines.length === 0) return undefined;
  return markup`<div class="note"><b>About the document</b><ul>${lines.map((line) => markup`<li>${line}</li>`)}</ul></div>`;
}

/**
 * Renders the filters. They work by CSS rules, without a script. The rules refer to operations and checks by number, so that no text of
 * a report becomes part of the style sheet.
 */
function filters(report: SettledReport): Html | undefined {
  const { findings, coverage } = report;
  if (findings.length === 0) return undefined;
  function options(names: readonly string[], letter: string, every: string): readonly Html[] {
    return [
      markup`<option value="">${every}</option>`,
      ...names.map((name, index) => markup`<option value="${letter}${index}">${optionText(name)}</option>`),
    ];
  }
  return markup`<form class="filters"><label>Operation <select>${options(operationsOf(report), 'o', `all ${counted(coverage.length, 'operation')}`)}</select></label> <label>Check <select>${options(checksWithFindings(report), 'c', 'all checks')}</select></label> <label>Verdict <select>${options(VERDICTS, 'v', 'all verdicts')}</select></label> <label hidden>Text <input type="search"></label> <button type="reset">Show all</button> <output></output></form>`;
}

/** A longer name would make the filter wider than the screen of a phone. */
const MAX_OPTION_LENGTH = 32;

function optionText(name: string): string {
  return name.length <= MAX_OPTION_LENGTH ? name : `${name.slice(0, MAX_OPTION_LENGTH - 1)}…`;
}

function operationsOf({ coverage }: SettledReport): readonly string[] {
  return coverage.map(({ operation }) => operation);
}

function checksWithFindings({ findings }: SettledReport): readonly string[] {
  return [...new Set(findings.map(({ check }) => check))].toSorted();
}

function filterRules(report: SettledReport): Html {
  function rule(name: string): string {
    return `body:has(option[value="${name}"]:checked) :is(.finding, .group, .covered):not(.${name}) { display: none; }`;
  }
  function numbered(letter: string, count: number): readonly string[] {
    return Array.from({ length: count }, (_, index) => rule(`${letter}${index}`));
  }
  return new Html(
    [
      ...numbered('o', operationsOf(report).length),
      ...numbered('c', checksWithFindings(report).length).map((text) => text.replace(', .covered', '')),
      ...numbered('v', VERDICTS.length).map((text) => text.replace(', .covered', '')),
    ].join('\n'),
  );
}

/** The CSS classes by which the filters select a finding. */
function classesOf({ touches, check, verdict }: SettledFinding, report: SettledReport): string {
  const operations = operationsOf(report);
  const own = new Set(touches.map(({ operation }) => operations.indexOf(operation)).filter((index) => index >= 0));
  return [...[...own].map((index) => `o${index}`), `c${checksWithFindings(report).indexOf(check)}`, `v${VERDICTS.indexOf(verdict)}`].join(
    ' ',
  );
}

function findingsOf(report: SettledReport, verdict: Verdict): Html | undefined {
  const found = report.findings.filter((finding) => finding.verdict === verdict && finding.accepted === undefined);
  if (found.length === 0) return undefined;
  return markup`<h2><span class="verdict ${verdict}">${verdict}</span> ${found.length}</h2><p class="soft">${MEANINGS[verdict]}</p>${[...Map.groupBy(found, ({ check }) => check)].map(([check, group]) => groupOf(check, group, report))}`;
}

/** The findings of one check. The filters hide it with its findings. */
function groupOf(check: string, findings: readonly SettledFinding[], report: SettledReport): Html {
  const classes = new Set(findings.flatMap((finding) => classesOf(finding, report).split(' ')));
  const claim = report.checks.find((one) => one.id === check)?.claim ?? '';
  return markup`<section class="group ${[...classes].join(' ')}"><h3><code>${check}</code> <span class="soft">${counted(findings.length, 'finding')}. ${prose(claim)}</span></h3>${findings.map((finding) => findingOf(finding, report))}</section>`;
}

/** Our own text, in which backticks enclose code. */
function prose(text: string): readonly Content[] {
  return text.split('`').map((part, index) => (index % 2 === 1 ? markup`<code>${part}</code>` : part));
}

function findingOf(finding: SettledFinding, report: SettledReport): Html {
  const { about, message, touches, expected, observed, samples, source, client, curl, patch, id, expired } = finding;
  const where = touches.map(({ operation, status, times }) => `${operation} ${status}${times > 1 ? ` × ${times}` : ''}`).join(', ');
  const seen = samples.map(
    (sample) => markup`<li><code>${sample.pointer || 'the response'}</code> of ${sample.operation}: ${sample.observed}</li>`,
  );
  return markup`<details class="finding ${classesOf(finding, report)}"><summary>${about === 'client' ? markup`<span class="verdict">client</span> ` : ''}<b>${message}</b> <span class="soft">${where}</span></summary><div id="${id}">
<table><tr><th scope="row">expected</th><td>${expected}</td></tr><tr><th scope="row">observed</th><td>${observed}</td></tr>
${
  source === undefined
    ? ''
    : markup`<tr><th scope="row">document</th><td><code>${source.file}:${source.line}:${source.column}</code></td></tr>`
}
<tr><th scope="row">for your code</th><td>${prose(client)}</td></tr>
<tr><th scope="row">finding</th><td><code>${id}</code>${expired === undefined ? '' : ` accepted until ${expired.expires} by ${expired.owner}, which has expired`}</td></tr></table>
${seen.length > 0 ? markup`<p>Seen at</p><ul>${seen}</ul>` : ''}
<p>To reproduce it</p><pre>${curl}</pre>
${patch === undefined ? '' : markup`<p>Proposed change</p><pre>${diff(patch)}</pre>`}
</div></details>`;
}

function diff(patch: string): readonly (Html | string)[] {
  return patch
    .split('\n')
    .flatMap((line, index) => [
      index === 0 ? '' : '\n',
      line.startsWith('+')
        ? markup`<span class="add">${line}</span>`
        : line.startsWith('-')
          ? markup`<span class="remove">${line}</span>`
          : line,
    ]);
}

function settled({ findings, fixed }: SettledReport): Html | undefined {
  const rows = [
    ...findings.flatMap(({ message, accepted: by }) =>
      by === undefined
        ? []
        : [markup`<tr><td>accepted</td><td>${message}</td><td>${by.reason}</td><td>${by.owner}, until ${by.expires}</td></tr>`],
    ),
    ...fixed.map(
      ({ check, finding, reason, owner }) =>
        markup`<tr><td class="seen">fixed</td><td>${check} ${finding}</td><td>${reason}</td><td>${owner}</td></tr>`,
    ),
  ];
  if (rows.length === 0) return undefined;
  return markup`<h2>Baseline</h2><div class="framed"><table><tr><th>state</th><th>finding</th><th>reason</th><th>owner</th></tr>${rows}</table></div>`;
}

function coverageOf(row: Coverage, report: SettledReport): Html {
  const { findings } = report;
  const { seen, all } = row.fields;
  const share = all === 0 ? 0 : Math.round((100 * seen) / all);
  const statuses = row.statuses.map(({ status, described, times }) => {
    const text = `${status}${times > 0 ? ` × ${times}` : ''}${described ? '' : ' (not described)'}`;
    return markup`<span class="${described ? (times > 0 ? 'seen' : 'unseen') : 'undescribed'}">${text}</span>`;
  });
  const found = findings
    .filter(({ touches, accepted }) => accepted === undefined && touches.some(({ operation }) => operation === row.operation))
    .map(({ id, message }) => markup`<li><a href="#${id}">${message}</a></li>`);
  const checks = row.checks.map(
    ({ check, outcome }) =>
      markup`<li class="${outcome === 'passed' ? 'seen' : outcome === 'not-performed' ? 'unseen' : 'undescribed'}">${check}: ${outcome}</li>`,
  );
  return markup`<details class="covered o${operationsOf(report).indexOf(row.operation)}"><summary class="row"><span><span class="verdict ${row.verdict}">${row.verdict}</span></span><span><b>${row.operation}</b><br><code>${row.method} ${row.path}</code></span><span class="soft">${joined(statuses, ', ')}</span><span class="soft"><span class="bar"><i style="width:${share}%"></i></span><br>${seen}/${all} fields, ${counted(row.requests, 'request')}</span></summary><div>
${row.reason === '' ? '' : markup`<p class="soft">Not verified: ${row.reason}</p>`}
${found.length === 0 ? '' : markup`<p>Findings</p><ul>${found}</ul>`}
<p>Checks</p><ul class="columns">${checks}</ul></div></details>`;
}
