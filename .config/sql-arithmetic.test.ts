/**
 * The service multiplies and divides amounts in TypeScript, where integers have no limit. In SQL, a product beyond 64 bits is an error on
 * PostgreSQL and a rounded REAL on SQLite.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import ts from 'typescript-5.9';
import { expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..');

/** Places whose numbers cannot exceed 64 bits. */
const EXCEPTIONS: ReadonlySet<string> = new Set([
  // Rounds an amount to cents, by constants in the text of the statement.
  'packages/service/src/core/accounting/credit-hold.ts',
  // Milliseconds of times.
  'packages/service/src/store/postgres/now.ts',
  'packages/service/src/store/postgres/windows.ts',
  'packages/service/src/store/sqlite/sharing.ts',
]);

const OPERATORS = /[*/%]/;
const NO_ARITHMETIC = /'[^']*'|count\(\*\)|(?:select|returning) \*/g;

/** The texts of SQL in a file, without parameters, and the operators of Kysely's expressions. */
function sqlIn(file: string, text: string): string[] {
  const found: string[] = [];
  function visit(node: ts.Node): void {
    if (ts.isTaggedTemplateExpression(node) && node.tag.getText().startsWith('sql')) found.push(textOf(node.template));
    if (ts.isCallExpression(node)) {
      const [first, operator] = node.arguments;
      if (node.expression.getText() === 'sql.raw' && first && ts.isTemplateLiteral(first)) found.push(textOf(first));
      if (node.arguments.length === 3 && operator && ts.isStringLiteral(operator) && operator.text.length === 1) found.push(operator.text);
    }
    ts.forEachChild(node, visit);
  }
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
  return found;
}

function textOf(template: ts.TemplateLiteral): string {
  return ts.isNoSubstitutionTemplateLiteral(template)
    ? template.text
    : template.head.text + template.templateSpans.map(({ literal }) => `?${literal.text}`).join('');
}

const hasArithmetic = (sql: string): boolean => OPERATORS.test(sql.replaceAll(NO_ARITHMETIC, ''));

test('finds multiplications and divisions', () => {
  const arithmetic = ['sql`sum(price * seconds)`', 'sql<number>`sum(price / ${BASE})`', 'sql.raw(`held % ${1}`)', "eb('price', '*', 2)"];
  const others = ['sql`select * from vms`', "sql`'a/b'`", "eb('held', '+', 2)", 'price * seconds'];
  expect([...arithmetic, ...others].filter((text) => sqlIn('one.ts', text).some(hasArithmetic))).toEqual(arithmetic);
});

test('the service multiplies and divides in SQL only where the numbers are small', () => {
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', 'packages/service/src/*.ts'], { cwd: ROOT })
    .toString()
    .split('\n')
    .filter((file) => file !== '' && !/\.test\.ts$|\/(?:generated|migrations)\//.test(file));
  const statements = files.flatMap((file) => sqlIn(file, readFileSync(join(ROOT, file), 'utf8')).map((sql) => ({ file, sql })));
  expect(statements.length).toBeGreaterThan(80);
  const withArithmetic = statements.filter(({ sql }) => hasArithmetic(sql));
  expect(withArithmetic.filter(({ file }) => !EXCEPTIONS.has(file))).toEqual([]);
  expect(new Set(withArithmetic.map(({ file }) => file))).toEqual(EXCEPTIONS);
});
