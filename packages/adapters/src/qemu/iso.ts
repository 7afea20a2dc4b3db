/** The ISO files from which VMs can boot: `NAME.iso` in the folder of the images. */
import { existsSync, readdirSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';

import type { IsoFile } from '../hypervisor.ts';

const NAME = /^[\w.-]{1,60}$/;
const EXTENSION = '.iso';

/** The files now, by name. A name that begins with `windows` is for that platform. */
export function isoFilesIn(folder: string): IsoFile[] {
  const names = readdirSync(folder).flatMap((file) => (file.endsWith(EXTENSION) ? basename(file, EXTENSION) : []));
  return names
    .filter((name) => NAME.test(name))
    .toSorted()
    .map((name) => ({ name, displayname: name, platform: name.startsWith('windows') ? 'windows' : 'linux' }));
}

/** @throws Error if there is no such file. */
export function isoPath(folder: string, name: string): string {
  const path = resolve(join(folder, `${name}${EXTENSION}`));
  if (!NAME.test(name) || !existsSync(path)) throw new Error(`There is no ISO file ${name}. Put ${name}${EXTENSION} into ${folder}.`);
  return path;
}
