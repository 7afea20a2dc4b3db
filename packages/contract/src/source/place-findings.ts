import { relative } from 'node:path';

import { formatPatch, structuredPatch } from 'diff';

import type { Finding } from '../judge/finding.ts';
import { applySplices, spliceFor } from './edit.ts';
import type { Splice } from './edit.ts';
import type { SourceMap, SourcePlace } from './source-map.ts';

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
    const patches = [...editedFiles([finding], sources)].map(([path, text]) => patchOf(sources, { path, text }, base));
    return { ...finding, source: { file, line, column }, patch: patches.length === 0 ? undefined : patches.join('') };
  });
}

/** Lines around a change in a patch. */
const CONTEXT_LINES = 2;

/** A unified diff of two texts. Compares only the lines between the first and the last change, because a document can have many megabytes. */
function patchOf(sources: SourceMap, edited: { readonly path: string; readonly text: string }, base: string): string {
  const name = relative(base, edited.path);
  const [before, after] = [(sources.fileOf(edited.path)?.text ?? '').split('\n'), edited.text.split('\n')];
  const shorter = Math.min(before.length, after.length);
  let first = 0;
  while (first < shorter && before[first] === after[first]) first++;
  let last = 0;
  while (last < shorter - first && before.at(-1 - last) === after.at(-1 - last)) last++;
  const from = Math.max(0, first - CONTEXT_LINES);
  function part(lines: readonly string[]): string {
    return lines.slice(from, lines.length - Math.max(0, last - CONTEXT_LINES - 1)).join('\n');
  }
  const patch = structuredPatch(`a/${name}`, `b/${name}`, part(before), part(after), undefined, undefined, { context: CONTEXT_LINES });
  const hunks = patch.hunks.map((hunk) => ({ ...hunk, oldStart: hunk.oldStart + from, newStart: hunk.newStart + from }));
  return formatPatch({ ...patch, hunks }).replace(/^=+\n/, '');
}

/** The new texts of all files that the proposals of findings change, by path. */
export function editedFiles(findings: readonly Finding[], sources: SourceMap): ReadonlyMap<string, string> {
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
  return new Map([...splices].map(([path, list]) => [path, applySplices(sources.fileOf(path)?.text ?? '', list)]));
}
