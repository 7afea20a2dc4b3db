import { cpSync, existsSync, mkdtempSync, realpathSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

/** Folders of the root that no test needs. */
const LEFT_OUT: ReadonlySet<string> = new Set(['.git', '.data', '.turbo', 'reports']);

/**
 * Copies the repository to a temporary folder, so that a program may change sources there. The links between the workspace packages lead
 * to the copies. Folders with packages of the registry are linked, not copied.
 */
export function copyRepository(root: string): string {
  const copy = realpathSync(mkdtempSync(join(tmpdir(), 'mutate-')));
  cpSync(root, copy, {
    recursive: true,
    verbatimSymlinks: true,
    filter(source, target) {
      if (LEFT_OUT.has(relative(root, source))) return false;
      if (!existsSync(join(source, '.pnpm'))) return true;
      symlinkSync(source, target, 'junction');
      return false;
    },
  });
  return copy;
}
