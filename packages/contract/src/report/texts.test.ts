/** Texts in each report format: commands can be copied, and messages cannot affect the display. */
import { XMLParser } from 'fast-xml-parser';
import { expect, test } from 'vitest';

import { unseenAsJson, visible } from '../exchange/visible.ts';
import { VERDICTS } from '../judge/finding.ts';
import type { PlacedFinding } from '../source/place-findings.ts';
import { settle } from './baseline.ts';
import type { SettledReport } from './baseline.ts';
import { toJunit } from './junit.ts';
import { toMarkdown } from './markdown.ts';
import type { Report } from './report.ts';
import { toSarif } from './sarif.ts';

/** A command as `curl.ts` writes it, without invisible characters. */
const CURL = `curl -i -X POST -H "X-Key: $CONTRACT_API_KEY" --data-raw '{"a":"it'\\''s <b>&amp;\\u202e\\\\ ]]> \`\`\` ~~ $(id) ä€😀 | _*[x](y)"}' 'http://a.test/x?a=1&b=%27'`;
const HOSTILE = [
  '<script>alert(1)</script>',
  '&lt;b&gt; &amp; &#x41;',
  ']]> -->',
  '"quoted" \'single\' \\ back\\slash',
  '`code` ```js\n*bold* _em_ ~~gone~~ [link](http://a.test) ![image](x) | cell | <https://a.test>',
  '# heading',
  '- item',
  '+ item',
  '12. item',
  '3) item',
  '> quoted',
  'a\nb\r\nc\td',
  '\u001b[31mred\u0007 \u202eright \u200b\u2028\u0085\ufeff\u{e0001}',
  'ä€😀',
];

function findingOf(message: string, verdict: PlacedFinding['verdict'] = 'violation'): PlacedFinding {
  return {
    id: `f-${verdict}`,
    check: 'property-type',
    verdict,
    isUrgent: false,
    about: 'service',
    message,
    expected: message,
    observed: message,
    at: '/paths',
    touches: [{ operation: 'getThing', status: 200, times: 1, curl: '' }],
    samples: [{ operation: 'getThing', status: 200, pointer: '/a', observed: message }],
    curl: CURL,
    client: message,
    proposals: [],
    replay: 'an example',
  };
}

function reportOf(message: string): SettledReport {
  const report: Report & { readonly findings: readonly PlacedFinding[] } = {
    format: 1,
    document: { title: message, version: message },
    target: 'http://a.test/',
    mode: 'full',
    seed: 1,
    at: '2026-11-22T05:00:00.000Z',
    milliseconds: 1,
    checks: [{ id: 'property-type', claim: message, judges: message, client: message }],
    findings: VERDICTS.map((verdict) => findingOf(message, verdict)),
    coverage: [
      {
        operation: 'getThing',
        method: 'GET',
        path: '/thing',
        requests: 1,
        statuses: [],
        fields: { seen: 0, all: 0 },
        checks: [
          { check: 'property-type', outcome: 'violation' },
          { check: 'key-required', outcome: 'not-performed' },
        ],
        verdict: 'violation',
        verified: false,
        reason: message,
      },
    ],
    left: [`${message} run: ${CURL}`],
    unfinished: [`${message} run: ${CURL}`],
    failures: [],
    notes: [message],
    spent: { amount: '1.00', unknown: 1 },
    traffic: [],
  };
  const acceptance = {
    finding: 'f-learned',
    check: 'property-type',
    operations: 'all' as const,
    reason: message,
    owner: 'accounting',
    expires: '2030-01-01',
  };
  return settle(report, [acceptance], '2026-11-22');
}

const parser = new XMLParser({
  ignoreAttributes: false,
  trimValues: false,
  isArray: (name) => ['testsuite', 'testcase', 'failure'].includes(name),
});

/** The text that Markdown shows for a line with escaped constructs. */
function shown(line: string): string {
  // Every character that could begin or end a construct must have a backslash before it.
  const rest = line.replaceAll(/\\[!-/:-@[-`{-~]/g, 'x').replaceAll(/\\(?=u)/g, 'x');
  expect(rest).not.toMatch(/[`*_[\]<>|&~\\]|^\s*(?:[-+#]|\d+[.)])/);
  return line.replaceAll(/\\([!-/:-@[-`{-~])/g, '$1');
}

test.each(HOSTILE)('the command next to %j can be copied from every format', (message) => {
  const report = reportOf(message);
  const blocks = [...toMarkdown(report).matchAll(/^(`{3,})sh\n([\s\S]*?)\n\1$/gm)].map(([, , text]) => text);
  expect(blocks).toEqual(Array.from({ length: 3 }, () => CURL));
  const [suite] = parser.parse(toJunit(report)).testsuites.testsuite;
  const [, found] = suite.testcase;
  expect(found.failure[0]['#text'].split('\n').at(-1)).toBe(CURL);
});

test.each(HOSTILE)('%j is visible text in every format', (message) => {
  const report = reportOf(message);
  const plain = visible(message);
  const line = plain.replaceAll('\n', ' ');

  const markdown = toMarkdown(report);
  const lines = markdown.split('\n');
  const headings = lines.filter((one) => one.startsWith('### ')).map((one) => shown(one.slice(4)));
  expect(headings).toEqual(Array.from({ length: 3 }, () => line));
  const after = (heading: string) => shown((lines[lines.indexOf(heading) + 2] ?? '').slice(2));
  expect(after('## About the document')).toBe(line);
  expect(after('## Left behind')).toBe(`${line} run: ${CURL}`);
  expect(after('## Not undone as planned')).toBe(`${line} run: ${CURL}`);

  const junit = toJunit(report);
  const { testsuites } = parser.parse(junit);
  const [skipped, found] = testsuites.testsuite[0].testcase;
  expect(found.failure[0]['@_message']).toBe(plain);
  expect(skipped.skipped['@_message']).toBe(plain);

  const { results, tool } = JSON.parse(toSarif(report)).runs[0];
  expect(results[0].message.text).toContain(`${message} (getThing 200): expected ${message}, observed ${message}`);
  expect(tool.driver.rules[0].shortDescription.text).toBe(message);

  for (const written of [markdown, junit]) expect(written).not.toMatch(/[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]--[\n\t\u200c\u200d]]/v);
});

test.each([
  ['a\u0000b', 'a\\u0000b'],
  ['\u007f\u0085', '\\u007f\\u0085'],
  ['\u202e\u2028', '\\u202e\\u2028'],
  ['\ud800', '\\ud800'],
  ['\ufdd0\u{1ffff}', '\\ufdd0\\u{1ffff}'],
  ['\u{e0001}', '\\u{e0001}'],
  ['a\tb\nc\u200c\u200d ä😀', 'a\tb\nc\u200c\u200d ä😀'],
])('%j is shown as %j', (text, expected) => {
  expect(visible(text)).toBe(expected);
});

test('JSON with escaped invisible characters has the same value', () => {
  for (const text of [...HOSTILE, '\u{e0001}\u{10ffff}\u007f\ud800']) {
    const json = JSON.stringify({ [text]: text });
    expect(JSON.parse(unseenAsJson(json))).toEqual({ [text]: text });
    expect(visible(unseenAsJson(json))).toBe(unseenAsJson(json));
  }
});
