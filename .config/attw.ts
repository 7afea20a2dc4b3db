/** Checks with attw how a package resolves for its users. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/** The problems that attw finds in a tarball, such as `node10: NoResolution`, sorted. */
export function resolutionProblems(tarball: string): string[] {
  const attw = join(import.meta.dirname, 'node_modules/.bin/attw');
  const { stdout } = spawnSync(attw, [tarball, '--format', 'json'], { encoding: 'utf8' });
  const { analysis }: { analysis: { problems: { kind: string; resolutionKind: string }[] } } = JSON.parse(stdout);
  return [...new Set(analysis.problems.map(({ kind, resolutionKind }) => `${resolutionKind}: ${kind}`))].toSorted();
}
