/**
 * The plugins of StrykerJS that the script `mutate` adds: a checker that lets StrykerJS test only the mutants of a sample, and a reporter
 * that writes each result as soon as it is known, so that an interrupted run has results.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

import { keyOf } from './mutants.ts';
import type { Mutant } from './mutants.ts';
import type { Result } from './report.ts';

/** In the folder in which StrykerJS runs. */
export const SAMPLE_FILE = 'mutation-sample.json';
export const RESULTS_FILE = 'mutation-results.jsonl';

type IdentifiedMutant = Mutant & { readonly id: string };

/** Passes the mutants of the sample. StrykerJS does not test a mutant with another status than `passed`. */
export function createSampleChecker(folder: string) {
  const sample = new Set<string>();
  return {
    async init(): Promise<void> {
      const keys: string[] = JSON.parse(readFileSync(join(folder, SAMPLE_FILE), 'utf8'));
      for (const key of keys) sample.add(key);
    },
    /** A single group, because each group takes a message to another process. */
    async group(mutants: readonly IdentifiedMutant[]): Promise<string[][]> {
      return [mutants.map(({ id }) => id)];
    },
    async check(mutants: readonly IdentifiedMutant[]): Promise<Record<string, { status: string; reason?: string }>> {
      return Object.fromEntries(
        mutants.map((mutant) => [
          mutant.id,
          sample.has(keyOf(fromFolder(folder, mutant))) ? { status: 'passed' } : { status: 'compileError', reason: 'not in the sample' },
        ]),
      );
    },
  };
}

/** Appends each result to a file, as one line of JSON. */
export function createResultsReporter(folder: string) {
  return {
    onMutantTested(tested: Mutant & Pick<Result, 'status'>): void {
      const { fileName, location, mutatorName, replacement, status } = fromFolder(folder, tested);
      const result: Result = { fileName, location, mutatorName, replacement, status };
      appendFileSync(join(folder, RESULTS_FILE), `${JSON.stringify(result)}\n`);
    },
  };
}

/** StrykerJS names files by their full paths. */
function fromFolder<M extends Mutant>(folder: string, mutant: M): M {
  return { ...mutant, fileName: relative(folder, mutant.fileName).split(sep).join('/') };
}

export const strykerPlugins = [
  { kind: 'Checker', name: 'sample', value: createSampleChecker(process.cwd()) },
  { kind: 'Reporter', name: 'results', value: createResultsReporter(process.cwd()) },
];
