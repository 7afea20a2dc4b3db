import { relative } from 'node:path';

import { createTwoFilesPatch } from 'diff';

import type { Finding } from '../finding.ts';
import { applySplices, spliceFor } from './edit.ts';
import type { Splice } from './edit.ts';
import type { SourceMap, SourcePlace } from './source-map.ts';

/** A finding with the place in the sources that it is about, and how they would have to change. */
export interface PlacedFinding extends Finding {
  readonly source?: SourcePlace | undefined;
  /** A unified diff of one file. */
  readonly patch?: string | undefined;
}

/** Adds file, line, column and patch to findings. `base` is the folder that file names are shown relative to. */
export function placeFindings(findings: readonly Finding[], sources: SourceMap, base: string): readonly PlacedFinding[] {
  return findings.map((finding) => {
    const { file, line, column } = sources.locate(finding.at);
    const patches = [...editedFiles([finding], sources)].map(([path, text]) => patchOf(sources, { path, text }, base));
    return { ...finding, source: { file, line, column }, patch: patches.length === 0 ? undefined : patches.join('') };
  });
}

function patchOf(sources: SourceMap, edited: { readonly path: string; readonly text: string }, base: string): string {
  const name = relative(base, edited.path);
  return createTwoFilesPatch(`a/${name}`, `b/${name}`, sources.fileOf(edited.path)?.text ?? '', edited.text, undefined, undefined, {
    context: 2,
  }).replace(/^=+\n/, '');
}

/** The new texts of all files that the proposals of findings change, by path. */
export function editedFiles(findings: readonly Finding[], sources: SourceMap): ReadonlyMap<string, string> {
  const splices = new Map<string, Splice[]>();
  const begun = new Set<string>();
  for (const proposal of findings.flatMap(({ proposals }) => proposals)) {
    const { keys, path, missing } = sources.locate(proposal.at);
    // Two changes may both need a map that is not there yet, or take the last entries of one: the second waits until the first is made.
    const place = `${path} ${keys.join('/')} ${missing[0] ?? (proposal.kind === 'add-entry' ? proposal.key : '')}`;
    const isAlone = missing.length > 0 || proposal.kind !== 'add-item';
    const splice = isAlone && begun.has(place) ? undefined : spliceFor(sources, proposal);
    if (splice === undefined) continue;
    if (isAlone) begun.add(place);
    const known = splices.get(splice.path) ?? [];
    // The same change may be asked for by several findings.
    if (!known.some((one) => one.start === splice.start && one.text === splice.text)) known.push(splice);
    splices.set(splice.path, known);
  }
  return new Map([...splices].map(([path, list]) => [path, applySplices(sources.fileOf(path)?.text ?? '', list)]));
}
