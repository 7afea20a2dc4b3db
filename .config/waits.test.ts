import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { expect, test } from 'vitest';

import { POLL_LIMIT_MS } from './depth.ts';

const ROOT = resolve(import.meta.dirname, '..');
const FILES = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.ts'], { cwd: ROOT, encoding: 'utf8' });

/** A limit of a request below a minute. */
const SHORT_REQUEST = /AbortSignal\.timeout\((?:\d{1,4}|[1-5]?\d_?\d{3})\)/;

/** A last argument that sets the timeout, or a constant that does. */
const TIMEOUT = /,\s*(?:\{[^{}]*\btimeout\b[^{}]*\}|[A-Z_]+),?\s*\)$/;

test('each vi.waitFor and vi.waitUntil has a timeout, because a busy machine exceeds the usual one of a second', () => {
  const calls = FILES.trim()
    .split('\n')
    .filter((file) => file !== '.config/waits.test.ts')
    .flatMap((file) => waitsIn(readFileSync(join(ROOT, file), 'utf8')).map((call) => `${file}: ${call}`));
  expect(calls.length).toBeGreaterThan(40);
  expect(calls.filter((call) => !TIMEOUT.test(call))).toEqual([]);
});

test('no wait has a limit below five minutes and no request one below a minute, and none counts timers at a moment', () => {
  const files = FILES.trim()
    .split('\n')
    .filter((file) => file !== '.config/waits.test.ts')
    .map((file) => ({ file, text: readFileSync(join(ROOT, file), 'utf8') }));
  const short = files.flatMap(({ file, text }) =>
    [...text.matchAll(/\btimeout: (\d[\d_]*) ?[,}]/g)]
      .filter(({ 1: given = '', index }) => Number(given.replaceAll('_', '')) < POLL_LIMIT_MS && isWaitOrConstant(text.slice(0, index)))
      .map(([found]) => `${file}: ${found}`),
  );
  expect(short).toEqual([]);
  // A slow service still works on a request that a test has given up, and gets the next one.
  const hurried = files.filter(({ file, text }) => /\btest\/|\.test\.ts$/.test(file) && SHORT_REQUEST.test(text));
  expect(hurried.map(({ file }) => file)).toEqual([]);
  expect(files.filter(({ text }) => /getTimerCount|setDefaultTimeout\([1-9]/.test(text)).map(({ file }) => file)).toEqual([]);
});

/** A limit in the options of a test, before its function, or that of a hook after it. */
const OWN_LIMIT =
  /(?:\btimeout: (?!TEST_TIMEOUT_MS \+)[^{}]*?\}|\bTIMEOUT\b[^(){}]*\}?),?\s*(?:async )?(?:\([^()]*\) =>|function)|\btimeout: byDepth|^\}, [\d_]+\);$/gm;

test('no test has a limit below that of the suite, which a slow machine reaches first', () => {
  const own = FILES.trim()
    .split('\n')
    .filter((file) => file.endsWith('.test.ts') && file !== '.config/waits.test.ts')
    .flatMap((file) => [...readFileSync(join(ROOT, file), 'utf8').matchAll(OWN_LIMIT)].map(([found]) => `${file}: ${found}`));
  expect(own).toEqual([]);
});

test('only countBlocked and countWaiting look for blocked connections, because a transaction needs a new snapshot to see all of them', () => {
  const files = FILES.trim()
    .split('\n')
    .filter((file) => file !== '.config/waits.test.ts' && readFileSync(join(ROOT, file), 'utf8').includes('pg_blocking_pids'));
  expect(files).toEqual(['packages/service/test/databases.ts']);
});

/** Whether a text ends within the call of a wait, or just after the opening brace of a constant. */
function isWaitOrConstant(before: string): boolean {
  if (/const [A-Z_]+ = \{ $/.test(before)) return true;
  const start = Math.max(before.lastIndexOf('.poll('), before.lastIndexOf('vi.waitFor('), before.lastIndexOf('vi.waitUntil('));
  if (start < 0) return false;
  let open = 0;
  for (const character of before.slice(before.indexOf('(', start))) {
    open += character === '(' ? 1 : character === ')' ? -1 : 0;
    if (open === 0) return false;
  }
  return true;
}

/** The calls, up to the parenthesis that closes them. */
function waitsIn(text: string): string[] {
  return [...text.matchAll(/vi\.wait(?:For|Until)\(/g)].map(({ 0: start, index }) => {
    let end = index + start.length;
    for (let open = 1; open > 0 && end < text.length; end++) open += text[end] === '(' ? 1 : text[end] === ')' ? -1 : 0;
    return text.slice(index, end);
  });
}
