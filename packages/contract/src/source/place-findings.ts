import { relative } from 'node:path';

import { formatPatch, structuredPatch } from 'diff';
import type { StructuredPatchHunk } from 'diff';

import type { Finding } from '../judge/finding.ts';
import { applySplices, spliceFor } from './edit.ts';
import type { Splice } from './edit.ts';
import type { SourceFile, SourceMap, SourcePlace } from './source-map.ts';

/** A finding with its place in the sources and the proposed change. */
export interface PlacedFinding extends Finding {
  readonly source?: SourcePlace | undefined;
  /** A unified diff of one file. */
  readonly patch?: string | undefined;
}

/** Adds file, line, column and patch to findings. File names are relative to the folder `base`. */
export function placeFindings(findings: readonly Finding[], sources: SourceMap, base: string): readonly PlacedFinding[] {
  return findings.map((finding) => {
    const { file, line, column } = sources.locate(finding.at);
    const patches = [...splicesFor([finding], sources)].map(([path, splices]) => patchOf(sources.fileOf(path), splices, base));
    return { ...finding, source: { file, line, column }, patch: patches.length === 0 ? undefined : patches.join('') };
  });
}

/** Lines around a change in a patch. */
const CONTEXT_LINES = 2;
/** A document in one line has no useful lines: its patch shows only the characters around a change. */
const MAX_LINE_LENGTH = 1_000;
const CONTEXT_CHARACTERS = 60;

/** A part of a file with its changes: offsets of the file. */
interface Window {
  readonly from: number;
  readonly to: number;
  readonly splices: readonly Splice[];
}

/** A unified diff of the changed parts of a file. It never copies the rest, because a document can have many megabytes. */
function patchOf(file: SourceFile | undefined, splices: readonly Splice[], base: string): string {
  if (file === undefined) return '';
  const name = relative(base, file.path);
  const hunks: StructuredPatchHunk[] = [];
  let shift = 0;
  for (const { from, to, splices: inside } of windowsOf(file.text, splices)) {
    const { line, col } = file.lines.linePos(from);
    const before = file.text.slice(from, to);
    const after = applySplices(
      before,
      inside.map((one) => ({ ...one, start: one.start - from, end: one.end - from })),
    );
    if (col > 1 || isLong(before)) {
      hunks.push({ oldStart: line, oldLines: 1, newStart: line + shift, newLines: 1, lines: [`-${before}`, `+${after}`] });
      continue;
    }
    const found = structuredPatch('', '', before, after, undefined, undefined, { context: CONTEXT_LINES }).hunks;
    for (const hunk of found) hunks.push({ ...hunk, oldStart: hunk.oldStart + line - 1, newStart: hunk.newStart + line - 1 + shift });
    shift += countLines(after) - countLines(before);
  }
  const names = structuredPatch(`a/${name}`, `b/${name}`, '', '');
  return formatPatch({ ...names, hunks }).replace(/^=+\n/, '');
}

function isLong(text: string): boolean {
  return text.split('\n').some(({ length }) => length > MAX_LINE_LENGTH);
}

function countLines(text: string): number {
  return text.split('\n').length;
}

/** The parts of a text with changes: whole lines with some context, or only some characters of a long line. */
function windowsOf(text: string, splices: readonly Splice[]): readonly Window[] {
  const windows: Window[] = [];
  for (const splice of splices.toSorted((one, other) => one.start - other.start)) {
    const lines = linesAround(text, splice);
    const isWide = lines.to - lines.from > (MAX_LINE_LENGTH + 1) * (2 * CONTEXT_LINES + 1) + (splice.end - splice.start);
    const { from, to } = isWide
      ? { from: Math.max(0, splice.start - CONTEXT_CHARACTERS), to: Math.min(text.length, splice.end + CONTEXT_CHARACTERS) }
      : lines;
    const last = windows.at(-1);
    if (last !== undefined && from <= last.to)
      windows[windows.length - 1] = { from: last.from, to: Math.max(last.to, to), splices: [...last.splices, splice] };
    else windows.push({ from, to, splices: [splice] });
  }
  return windows;
}

function linesAround(text: string, { start, end }: Splice): Pick<Window, 'from' | 'to'> {
  let from = text.lastIndexOf('\n', start - 1) + 1;
  for (let line = 0; line < CONTEXT_LINES && from > 0; line++) from = text.lastIndexOf('\n', from - 2) + 1;
  let to = Math.max(start, end - 1);
  for (let line = 0; line <= CONTEXT_LINES + 1 && to < text.length; line++) to = afterLine(text, to);
  return { from, to };
}

function afterLine(text: string, position: number): number {
  const end = text.indexOf('\n', position);
  return end < 0 ? text.length : end + 1;
}

/** The new texts of all files that the proposals of findings change, by path. */
export function editedFiles(findings: readonly Finding[], sources: SourceMap): ReadonlyMap<string, string> {
  const splices = splicesFor(findings, sources);
  return new Map([...splices].map(([path, list]) => [path, applySplices(sources.fileOf(path)?.text ?? '', list)]));
}

/** The changes that the proposals of findings make, by path. */
function splicesFor(findings: readonly Finding[], sources: SourceMap): ReadonlyMap<string, readonly Splice[]> {
  const splices = new Map<string, Splice[]>();
  const begun = new Set<string>();
  for (const proposal of findings.flatMap(({ proposals }) => proposals)) {
    const { keys, path, missing } = sources.locate(proposal.at);
    // Two changes may create the same map or remove the last entries of one. The second waits for the next pass.
    const place = `${path} ${keys.join('/')} ${missing[0] ?? (proposal.kind === 'add-entry' ? proposal.key : '')}`;
    const isAlone = missing.length > 0 || proposal.kind !== 'add-item';
    const splice = isAlone && begun.has(place) ? undefined : spliceFor(sources, proposal);
    if (splice === undefined) continue;
    if (isAlone) begun.add(place);
    const known = splices.get(splice.path) ?? [];
    // Several findings may propose the same change.
    if (!known.some((one) => one.start === splice.start && one.text === splice.text)) known.push(splice);
    splices.set(splice.path, known);
  }
  return splices;
}
