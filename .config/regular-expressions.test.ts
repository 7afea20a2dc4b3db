/** Regular expressions that read input take linear time. Those of `openapi` and `apps/docs` read only the project's own documents. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import ts from 'typescript-5.9';
import { expect, test } from 'vitest';

import { superLinearText } from '../openapi/lint/regular-expression/super-linear.ts';

const ROOT = resolve(import.meta.dirname, '..');
const FOLDERS = ['packages', 'apps/contract-tests', 'apps/mock', 'apps/server', 'examples'];
const NOT_PUBLISHED = /\.test\.ts$|\.gen\.ts$|\/(?:test|bench|generate|generated|dist)\//;

interface Expression {
  readonly place: string;
  readonly source: string;
  readonly flags: string;
}

function expressionsIn(file: string): readonly Expression[] {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: Expression[] = [];
  function visit(node: ts.Node): void {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/');
      const { line } = source.getLineAndCharacterOfPosition(node.getStart());
      found.push({ place: `${file}:${line + 1}`, source: node.text.slice(1, end), flags: node.text.slice(end + 1) });
    }
    ts.forEachChild(node, visit);
  }
  visit(source);
  return found;
}

function problemOf({ place, source, flags }: Expression): string | undefined {
  try {
    const text = superLinearText(source, flags);
    return text === undefined ? undefined : `${place} /${source}/${flags} repeats ${JSON.stringify(text)}`;
  } catch (error) {
    return `${place} /${source}/${flags} ${String(error)}`;
  }
}

test('no regular expression of the sources takes more than linear time', () => {
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', ...FOLDERS], { cwd: ROOT, encoding: 'utf8' })
    .split('\n')
    .filter((file) => /\.m?[tj]s$/.test(file) && !NOT_PUBLISHED.test(file));
  const expressions = files.flatMap(expressionsIn);
  expect(expressions.length).toBeGreaterThan(80);
  expect(expressions.flatMap((expression) => problemOf(expression) ?? [])).toEqual([]);
});
