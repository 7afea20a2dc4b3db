/** Reports the mutants that the tests did not notice. */
import type { Equivalent } from './equivalents.ts';
import type { Mutant, Position } from './mutants.ts';

/** The result of StrykerJS for a mutant. Lines and columns begin at 1. */
export interface Result extends Mutant {
  readonly status: 'Killed' | 'Timeout' | 'Survived' | 'NoCoverage' | 'RuntimeError' | 'CompileError' | 'Ignored' | 'Pending';
}

/** A change that no test noticed. */
export interface Survivor {
  readonly file: string;
  readonly line: number;
  readonly original: string;
  readonly replacement: string;
  /** Whether a test runs the changed code at all. */
  readonly isCovered: boolean;
  /** The reason, if the change has no effect. */
  readonly equivalent: string | undefined;
}

export interface FileScore {
  readonly file: string;
  readonly noticed: number;
  readonly survivors: readonly Survivor[];
}

/** The scores of the files, in the order of their names. */
export function scoresOf(
  results: readonly Result[],
  sourceOf: (fileName: string) => string,
  equivalents: readonly Equivalent[],
): FileScore[] {
  return [...Map.groupBy(results, ({ fileName }) => fileName)]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([file, ofFile]) => ({
      file,
      noticed: ofFile.filter(({ status }) => status === 'Killed' || status === 'Timeout').length,
      survivors: ofFile
        .filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
        .map((result) => survivorOf(result, sourceOf(file), equivalents)),
    }))
    .filter(({ noticed, survivors }) => noticed + survivors.length > 0);
}

function survivorOf(
  { fileName, location, replacement, mutatorName, status }: Result,
  source: string,
  equivalents: readonly Equivalent[],
): Survivor {
  const original = textBetween(source, location.start, location.end);
  const known = equivalents.find((one) => one.file === fileName && one.original === original && one.replacement === replacement);
  return {
    file: fileName,
    line: location.start.line,
    original,
    replacement: replacement || mutatorName,
    isCovered: status === 'Survived',
    equivalent: known?.reason,
  };
}

function textBetween(source: string, start: Position, end: Position): string {
  const lines = source.split('\n').slice(start.line - 1, end.line);
  const last = lines.length - 1;
  return lines.map((line, index) => line.slice(index === 0 ? start.column - 1 : 0, index === last ? end.column - 1 : undefined)).join('\n');
}

/** The noticed changes. Changes without an effect do not count. */
export interface Score {
  readonly noticed: number;
  readonly tested: number;
  /** In percent. */
  readonly value: number;
  /** The 95 % confidence interval of the score of the whole area, if the mutants are a random sample of it. In percent. */
  readonly interval: readonly [number, number];
}

export function scoreOf(scores: readonly FileScore[]): Score {
  const noticed = scores.reduce((sum, one) => sum + one.noticed, 0);
  const missed = scores.flatMap(({ survivors }) => survivors).filter(({ equivalent }) => equivalent === undefined).length;
  const tested = noticed + missed;
  return { noticed, tested, value: tested === 0 ? 100 : (100 * noticed) / tested, interval: wilson(noticed, tested) };
}

/** The 95 % score interval of E. B. Wilson (1927) for a share, in percent. */
function wilson(successes: number, trials: number): [number, number] {
  if (trials === 0) return [0, 100];
  const z = 1.96;
  const share = successes / trials;
  const width = 1 + z ** 2 / trials;
  const middle = (share + z ** 2 / (2 * trials)) / width;
  const half = (z / width) * Math.sqrt((share * (1 - share)) / trials + z ** 2 / (4 * trials ** 2));
  return [100 * (middle - half), 100 * (middle + half)];
}

/** The table of scores, then each survivor. */
export function textOf(scores: readonly FileScore[]): string {
  const survivors = scores.flatMap((one) => one.survivors);
  const rows = scores.map((one) => {
    const equivalent = one.survivors.filter((survivor) => survivor.equivalent !== undefined).length;
    const figures = [percentage(scoreOf([one]).value), one.noticed, one.survivors.length - equivalent, equivalent];
    return [...figures.map((figure) => String(figure).padStart(10)), `  ${one.file}`].join('');
  });
  const head = ['score', 'noticed', 'missed', 'equivalent'].map((name) => name.padStart(10)).join('');
  const missed = survivors
    .filter(({ equivalent }) => equivalent === undefined)
    .map((one) => `${lineOf(one)}${one.isCovered ? '' : '  (no test runs it)'}`);
  const equivalent = survivors.filter((one) => one.equivalent !== undefined).map((one) => `${lineOf(one)}  (${one.equivalent})`);
  return [
    `${head}  file\n${rows.join('\n')}`,
    ...(missed.length > 0 ? [`No test notices these changes:\n\n${missed.join('\n')}`] : []),
    ...(equivalent.length > 0 ? [`These changes have no effect:\n\n${equivalent.join('\n')}`] : []),
  ].join('\n\n');
}

export function percentage(score: number): string {
  // Rounded down, so that a score below the threshold never looks like it.
  return `${(Math.floor(score * 10) / 10).toFixed(1)} %`;
}

const MAX_TEXT_LENGTH = 100;

function lineOf({ file, line, original, replacement }: Survivor): string {
  const [one, other] = [original, replacement].map((text) => {
    const short = text.replaceAll(/\s+/g, ' ');
    return short.length > MAX_TEXT_LENGTH ? `${short.slice(0, MAX_TEXT_LENGTH)}…` : short;
  });
  return `${file}:${line}  ${one}  ->  ${other}`;
}
