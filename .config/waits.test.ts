import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..');
const FILES = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.ts'], { cwd: ROOT, encoding: 'utf8' });

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

/** The calls, up to the parenthesis that closes them. */
function waitsIn(text: string): string[] {
  return [...text.matchAll(/vi\.wait(?:For|Until)\(/g)].map(({ 0: start, index }) => {
    let end = index + start.length;
    for (let open = 1; open > 0 && end < text.length; end++) open += text[end] === '(' ? 1 : text[end] === ')' ? -1 : 0;
    return text.slice(index, end);
  });
}
