/** The changes that StrykerJS makes, and a random sample of them. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A position in a file. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

export interface Mutant {
  /** Path from the root of the repository. */
  readonly fileName: string;
  readonly location: { readonly start: Position; readonly end: Position };
  readonly mutatorName: string;
  readonly replacement: string;
}

/** The part of @stryker-mutator/instrumenter that is used here. Its types are not installed until the first run. */
interface InstrumenterModule {
  readonly Instrumenter: new (logger: object) => {
    instrument(
      files: readonly { name: string; content: string; mutate: boolean }[],
      options: object,
    ): Promise<{ mutants: readonly Mutant[] }>;
  };
}

/** Lists all changes of the sources. The tools of this folder must be installed. */
export async function mutantsOf(repository: string, sources: readonly string[]): Promise<readonly Mutant[]> {
  const program = join(import.meta.dirname, 'node_modules/@stryker-mutator/instrumenter/dist/src/index.js');
  const { Instrumenter }: InstrumenterModule = await import(pathToFileURL(program).href);
  const silent = { debug() {}, info() {}, warn() {}, isDebugEnabled: () => false };
  const files = sources.map((name) => ({ name, content: readFileSync(join(repository, name), 'utf8'), mutate: true }));
  const { mutants } = await new Instrumenter(silent).instrument(files, { ignorers: [], excludedMutations: [], plugins: null });
  return mutants;
}

/**
 * Picks mutants at random. The same seed picks the same ones. A change of the sources changes few of them, because the position of a mutant
 * in the random order does not depend on the other mutants.
 */
export function sampleOf(mutants: readonly Mutant[], size: number, seed: number): Mutant[] {
  return mutants
    .map((mutant) => ({
      mutant,
      place: createHash('sha256')
        .update(`${seed} ${keyOf(mutant)}`)
        .digest('hex'),
    }))
    .toSorted((one, other) => (one.place < other.place ? -1 : 1))
    .slice(0, size)
    .map(({ mutant }) => mutant);
}

/** The places of mutants, as StrykerJS reads them. It also makes the changes that lie within such a place. */
export function placesOf(mutants: readonly Mutant[]): string[] {
  // The instrumenter counts lines from 0, and the option from 1. Both count columns from 0.
  return mutants.map(
    ({ fileName, location: { start, end } }) => `${fileName}:${start.line + 1}:${start.column}-${end.line + 1}:${end.column}`,
  );
}

/** A text that identifies a mutant. */
function keyOf({ fileName, location, mutatorName, replacement }: Mutant): string {
  const { start, end } = location;
  return [fileName, start.line, start.column, end.line, end.column, mutatorName, replacement].join(' ');
}
