/** The figures of the structure that may fall but not rise: see `figures.json`. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import ts from 'typescript-5.9';

import { packageOf } from './package-of.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** Longer functions take more than one screen. */
const MAX_FUNCTION_LINES = 70;
const MAX_PARAMETERS = 4;

export type Figures = Readonly<Record<string, number>>;

/** Measures all figures. It starts a service for the files of a purchase. */
export function measure(): Figures {
  const files = listFiles('*.ts', '*.tsx');
  const generated = files.filter(isGenerated);
  const tests = files.filter((file) => !isGenerated(file) && isTest(file));
  const sources = files.filter((file) => !isGenerated(file) && !isTest(file));
  const documents = listFiles('openapi/*.yaml', 'openapi/operator/*.yaml');
  return {
    'files of documents': documents.length,
    'lines of documents': linesOf(documents),
    'lines of bundles': linesOf(listFiles('openapi/generated/*.json')),
    'files in git': listFiles().length,
    'lines of sources': linesOf(sources),
    'lines of tests': linesOf(tests),
    'lines of generated code': linesOf(generated),
    ...Object.fromEntries(
      [...Map.groupBy(sources, packageOf)]
        .filter(([name]) => name.includes('/'))
        .map(([name, inPackage]) => [`lines of ${name}`, linesOf(inPackage)]),
    ),
    ...structureOf(sources),
    ...purchase(),
  };
}

/** The files of this repository that match the patterns of git, also those that are not committed yet. */
function listFiles(...patterns: readonly string[]): string[] {
  const given = ['ls-files', '--cached', '--others', '--exclude-standard', ...patterns];
  return execFileSync('git', given, { cwd: ROOT, encoding: 'utf8' })
    .trim()
    .split('\n')
    .filter((file) => existsSync(join(ROOT, file)));
}

function isGenerated(file: string): boolean {
  return /\/generated\/|\.gen\.tsx?$/.test(file);
}

function isTest(file: string): boolean {
  return /\.test\.tsx?$|\/test\/|\/bench\/|\/fixtures\//.test(file);
}

function linesOf(files: readonly string[]): number {
  return files.reduce((sum, file) => sum + readFileSync(join(ROOT, file), 'utf8').split('\n').length - 1, 0);
}

/** The files that declare a name, by package and name. */
type Declared = Map<string, Set<string>>;

/** Functions that are long or have many parameters, and names that two files of a package declare or export. */
function structureOf(sources: readonly string[]): Figures {
  let long = 0;
  let wide = 0;
  const exported: Declared = new Map();
  const types: Declared = new Map();
  const functions: Declared = new Map();
  function declare(names: Declared, { name }: Declaration, file: string): void {
    if (!name) return;
    const key = `${packageOf(file)} ${name.text}`;
    names.set(key, (names.get(key) ?? new Set()).add(file));
  }
  function twice(names: Declared): number {
    return [...names.values()].filter(({ size }) => size > 1).length;
  }
  for (const file of sources) {
    const source = ts.createSourceFile(file, readFileSync(join(ROOT, file), 'utf8'), ts.ScriptTarget.Latest, true);
    function lineAt(position: number): number {
      return source.getLineAndCharacterOfPosition(position).line;
    }
    function visit(node: ts.Node): void {
      if (isFunctionWithBody(node)) {
        if (lineAt(node.end) - lineAt(node.getStart()) >= MAX_FUNCTION_LINES) long++;
        if (node.parameters.length > MAX_PARAMETERS) wide++;
      }
      if (isDeclaration(node)) {
        declare(ts.isFunctionDeclaration(node) ? functions : types, node, file);
        if (isExported(node)) declare(exported, node, file);
      }
      ts.forEachChild(node, visit);
    }
    visit(source);
  }
  return {
    [`functions of more than ${MAX_FUNCTION_LINES} lines`]: long,
    [`functions of more than ${MAX_PARAMETERS} parameters`]: wide,
    'names that two files of a package export': twice(exported),
    'types that two files of a package declare': twice(types),
    'functions that two files of a package declare': twice(functions),
  };
}

type Declaration = ts.InterfaceDeclaration | ts.TypeAliasDeclaration | ts.FunctionDeclaration;

function isDeclaration(node: ts.Node): node is Declaration {
  return ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node) || ts.isFunctionDeclaration(node);
}

function isExported(node: Declaration): boolean {
  return ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true;
}

function isFunctionWithBody(
  node: ts.Node,
): node is ts.FunctionDeclaration | ts.FunctionExpression | ts.ArrowFunction | ts.MethodDeclaration {
  return (
    (ts.isFunctionDeclaration(node) || ts.isFunctionExpression(node) || ts.isArrowFunction(node) || ts.isMethodDeclaration(node)) &&
    node.body !== undefined
  );
}

/** The files and functions that one purchase runs, from the request to the response. */
function purchase(): Figures {
  const output = execFileSync(process.execPath, [join(import.meta.dirname, 'purchase.ts')], { encoding: 'utf8' });
  const { files, functions }: { files: number; functions: number } = JSON.parse(output);
  return { 'files of a purchase': files, 'functions of a purchase': functions };
}
