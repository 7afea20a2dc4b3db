/** The files of noVNC, the VNC client of the page with the console. They are modules, which browsers load without a bundle. */
import { cpSync, existsSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A bundle has a copy next to it. */
const COPY = fileURLToPath(new URL('novnc', import.meta.url));

/** The folder of the package. Undefined if it is not installed: `@reseller/testing` goes without. */
export function novncDirectory(): string | undefined {
  return existsSync(COPY) ? COPY : installed();
}

/** The modules, and the texts of their licences. */
export function isNovncFile(path: string): boolean {
  return /^\/(?:(?:core|vendor)\/[\w/-]+\.js|LICENSE\.txt|docs\/LICENSE\.[\w.-]+)$/.test(path);
}

/** Copies the modules and the licences next to a bundle, as they are. @returns One of the original files, whose licence the bundle names. */
export function copyNovncFiles(bundle: string): string[] {
  const from = installed();
  if (from === undefined) throw new Error('The package @novnc/novnc is not installed.');
  cpSync(from, join(bundle, 'novnc'), {
    recursive: true,
    dereference: true,
    filter: (path) => statSync(path).isDirectory() || /LICENSE/.test(path) || isNovncFile(path.slice(from.length).replaceAll('\\', '/')),
  });
  return [join(from, 'core/rfb.js')];
}

function installed(): string | undefined {
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve('@novnc/novnc')));
  } catch {
    return undefined;
  }
}
