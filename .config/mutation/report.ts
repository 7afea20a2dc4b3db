/** Reads the report of StrykerJS, and says what the tests did not notice. */
import type { Equivalent } from './equivalents.ts';

/** A position in a file. Both numbers begin at 1. */
interface Position {
  readonly line: number;
  readonly column: number;
}

interface Mutant {
  readonly status: 'Killed' | 'Timeout' | 'Survived' | 'NoCoverage' | 'RuntimeError' | 'CompileError' | 'Ignored' | 'Pending';
  readonly replacement?: string;
  readonly mutatorName: string;
  readonly location: { readonly start: Position; readonly end: Position };
}

/** The part of the report (mutation-testing-report-schema) that is read here. */
export interface MutationReport {
  readonly files: Readonly<Record<string, { readonly source: string; readonly mutants: readonly Mutant[] }>>;
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

/** The scores of the files, in their order in the report. */
export function scoresOf(report: MutationReport, equivalents: readonly Equivalent[]): FileScore[] {
  return Object.entries(report.files).map(([file, { source, mutants }]) => ({
    file,
    noticed: mutants.filter(({ status }) => status === 'Killed' || status === 'Timeout').length,
    survivors: mutants
      .filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
      .map((mutant) => survivorOf(file, source, mutant, equivalents)),
  }));
}

function survivorOf(file: string, source: string, mutant: Mutant, equivalents: readonly Equivalent[]): Survivor {
  const { location, replacement = '', mutatorName, status } = mutant;
  const original = textBetween(source, location.start, location.end);
  const known = equivalents.find((one) => one.file === file && one.original === original && one.replacement === replacement);
  return {
    file,
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

/** The noticed changes in percent. Changes without an effect do not count. */
export function scoreOf(scores: readonly FileScore[]): number {
  const noticed = scores.reduce((sum, one) => sum + one.noticed, 0);
  const missed = scores.flatMap(({ survivors }) => survivors).filter(({ equivalent }) => equivalent === undefined).length;
  return noticed + missed === 0 ? 100 : (100 * noticed) / (noticed + missed);
}

/** The table of scores, then each survivor. */
export function textOf(scores: readonly FileScore[]): string {
  const survivors = scores.flatMap((one) => one.survivors);
  const rows = scores.map((one) => {
    const equivalent = one.survivors.filter((survivor) => survivor.equivalent !== undefined).length;
    const figures = [percentage(scoreOf([one])), one.noticed, one.survivors.length - equivalent, equivalent];
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
