/**
 * Checks the English of sources and documents: `node .config/english/check.ts [path ...]`.
 * Without paths it checks all files, as `npx -y pnpm@12 lint` does.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { englishRules } from './rules.ts';
import type { EnglishRule } from './rules.ts';

export interface EnglishFinding {
  readonly line: number;
  readonly found: string;
  readonly advice: string;
}

const CHECKED = /\.(?:tsx?|mts|md|ya?ml|json)$/;
/** Generated code, other people's text, and the files that quote bad English on purpose. */
const NOT_CHECKED = /(?:^|\/)(?:generated|dist|node_modules)\/|\.gen\.ts$|pnpm-lock\.yaml$|^LICENSE|WRITING-STYLE\.md$|\.config\/english\//;

/** @returns The findings in a text, in the order of its lines. */
export function checkEnglish(text: string, rules: readonly EnglishRule[] = englishRules): EnglishFinding[] {
  const { running, lineAt } = runningText(text);
  return rules
    .flatMap(({ pattern, advice }) =>
      [...running.matchAll(pattern)].map((match) => ({ line: lineAt(match.index), found: match[0].trim(), advice })),
    )
    .toSorted((one, other) => one.line - other.line);
}

/** Sentences wrap across lines and comment markers: they are joined before they are read. */
function runningText(text: string): { running: string; lineAt(index: number): number } {
  const starts: number[] = [];
  let running = '';
  for (const line of text.split('\n')) {
    starts.push(running.length);
    running += `${line.replace(/^\s*(?:\/\*\*?|\*\/|\*|\/\/|#|>)?\s*/, '').trimEnd()} `;
  }
  return { running, lineAt: (index) => starts.findLastIndex((start) => start <= index) + 1 };
}

function main(paths: readonly string[]): void {
  const cwd = paths.length > 0 ? process.cwd() : fileURLToPath(new URL('../..', import.meta.url));
  const files = execFileSync('git', ['ls-files', '--', ...paths], { cwd, encoding: 'utf8' })
    .split('\n')
    .filter((file) => CHECKED.test(file) && !NOT_CHECKED.test(file) && existsSync(join(cwd, file)));
  let count = 0;
  for (const file of files) {
    for (const { line, found, advice } of checkEnglish(readFileSync(join(cwd, file), 'utf8'))) {
      count++;
      process.stderr.write(`${file}:${line}: "${found}". ${advice}\n`);
    }
  }
  if (count > 0) {
    process.stderr.write(`\n${count} ${count === 1 ? 'place' : 'places'} to rewrite. See openapi/WRITING-STYLE.md, "English".\n`);
    process.exitCode = 1;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.slice(2));
