/** The structure of the repository gets no larger by accident. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { measure } from './measure.ts';

const FILE = join(import.meta.dirname, 'figures.json');

/** The largest value that a figure may have, and why it last rose. */
interface Limit {
  readonly most: number;
  readonly why: string;
}

test('no figure of the structure rises without a reason in figures.json', () => {
  const limits: Readonly<Record<string, Limit>> = JSON.parse(readFileSync(FILE, 'utf8'));
  const figures = measure();
  const rows = Object.entries(figures).map(([name, value]) => ({ name, value, most: limits[name]?.most ?? 0 }));
  process.stdout.write(
    `${rows.map(({ name, value, most }) => `${String(value).padStart(7)} of ${String(most).padStart(6)}  ${name}`).join('\n')}\n`,
  );
  if (process.env['RATCHET'] === 'lower') return lower(limits, figures);
  expect(
    rows.filter(({ value, most }) => value > most),
    'These figures rose. Remove as much as you add, or raise `most` in .config/ratchet/figures.json and say why.',
  ).toEqual([]);
});

test('each reason names the issues that asked for a rise', () => {
  const limits: Readonly<Record<string, Limit>> = JSON.parse(readFileSync(FILE, 'utf8'));
  const reasons = Object.values(limits).map(({ why }) => why);
  expect(reasons.filter((why) => why !== 'as before' && !/^\d+(?:\.\d+)?\b/.test(why))).toEqual([]);
});

/** Keeps what was removed: RATCHET=lower. */
function lower(limits: Readonly<Record<string, Limit>>, figures: Readonly<Record<string, number>>): void {
  const lowered = Object.entries(figures).map(([name, value]) => {
    const { most = value, why = 'as before' } = limits[name] ?? {};
    // A few lines need no reason.
    return [name, { most: Math.min(most, name.startsWith('lines') ? Math.ceil(value / 100) * 100 : value), why }];
  });
  writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(lowered), null, 2)}\n`);
}
