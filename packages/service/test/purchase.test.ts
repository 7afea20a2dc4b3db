/** The walk of a purchase in CONTRIBUTING.md, and the names in the README that suffice to read it, next to the imports of its files. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

import { expect, test } from 'vitest';

const PACKAGE = resolve(import.meta.dirname, '..');
const SOURCE = join(PACKAGE, 'src');
const MAX_LINES = 20;
const MAX_NAMES = 50;

const readText = (file: string): string => readFileSync(file, 'utf8');
/** The text from a heading to the next one. */
const sectionOf = (text: string, heading: string): string => text.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
const codeIn = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);

const walk = sectionOf(readText(join(PACKAGE, '../../CONTRIBUTING.md')), 'One purchase through the code');
const filesOfWalk = codeIn(walk).filter((code) => code.endsWith('.ts'));
const explained = new Set(codeIn(sectionOf(readText(join(PACKAGE, 'README.md')), 'Deliveries')));

interface Import {
  readonly names: readonly string[];
  /** Relative to `src`. */
  readonly file: string;
}

function importsOf(file: string): Import[] {
  return [...readText(join(SOURCE, file)).matchAll(/import (?:type )?\{([^}]*)\} from '(\.[^']+)';/g)].map(([, list = '', from = '']) => ({
    names: list.split(',').flatMap((name) => name.trim().split(' as ')[0] || []),
    file: relative(SOURCE, resolve(dirname(join(SOURCE, file)), from)),
  }));
}

/** The types of deliveries and transactions, and the kinds of queries. A function is explained where it is defined. */
const termsOf = ({ file, names }: Import): readonly string[] => {
  if (file === 'store/prepared.ts') return names;
  return /^(?:delivery\/|store\/store\.ts)/.test(file) ? names.filter((name) => /^[A-Z]/.test(name)) : [];
};

test('the walk of a purchase is short, and its files exist', () => {
  expect(walk.trim().split('\n').length).toBeLessThanOrEqual(MAX_LINES);
  expect(filesOfWalk.length).toBeGreaterThanOrEqual(6);
  expect(filesOfWalk.filter((file) => !existsSync(join(SOURCE, file)))).toEqual([]);
});

test('each file of the walk is imported by another one, from the handler on', () => {
  const imported = new Set(filesOfWalk.flatMap((file) => importsOf(file).map((one) => one.file)));
  expect(filesOfWalk.filter((file) => !imported.has(file))).toEqual(['http/reseller/handler.ts']);
});

test('the README explains each name of deliveries and transactions that the files of a purchase use', () => {
  const direct = filesOfWalk.filter((file) => file !== 'reseller/table.ts');
  const files = new Set([...direct, ...direct.flatMap((file) => importsOf(file).map((one) => one.file))]);
  const inside = [...files].filter((file) => !file.startsWith('store/'));
  const names = new Set(inside.flatMap((file) => importsOf(file).flatMap(termsOf)));
  expect([...names].filter((name) => !explained.has(name)).toSorted()).toEqual([]);
  expect(explained.size).toBeLessThanOrEqual(MAX_NAMES);
});
