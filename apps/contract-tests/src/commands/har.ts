import { readFile } from 'node:fs/promises';

import { createRecorder, HarError, readHar } from '@reseller/contract/engine';

import { CannotRunError } from '../cannot-run.ts';
import { safeConsole } from '../console.ts';
import type { Console } from '../console.ts';
import { openChosenDocument } from '../document.ts';
import type { Arguments } from '../options.ts';
import { resellerRules } from '../reseller.ts';
import { conclude } from './conclude.ts';
import type { ExitCode } from './conclude.ts';

/** Judges the traffic of a HAR file. */
export async function judgeHar(args: Arguments, file: string, output: Console): Promise<ExitCode> {
  const loaded = await openChosenDocument(args);
  const recorder = createRecorder(loaded.document, resellerRules(loaded.document));
  const entries = await read(file);
  const taken = entries.map((entry) => recorder.take(entry));
  const first = taken.find((exchange) => exchange !== undefined);
  if (first === undefined)
    throw new CannotRunError(
      `None of the ${entries.length} entries of ${file} matches an operation of the document, so nothing was checked.`,
    );
  const safe = safeConsole(output, []);
  if (recorder.foreign() > 0)
    safe.print(
      `${entriesMatch(recorder.foreign())} no operation of the document and ${recorder.foreign() === 1 ? 'was' : 'were'} skipped.`,
    );
  return conclude({ report: recorder.report(new URL(new URL(first.sent.url).origin)), loaded, args, output: safe, secrets: [] });
}

function entriesMatch(entries: number): string {
  return entries === 1 ? '1 entry matches' : `${entries} entries match`;
}

async function read(file: string): Promise<ReturnType<typeof readHar>> {
  try {
    return readHar(await readFile(file, 'utf8'));
  } catch (error) {
    throw new CannotRunError(error instanceof HarError ? error.message : `The file ${file} cannot be read.`, { cause: error });
  }
}
