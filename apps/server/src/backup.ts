/** Copies the embedded store while the service runs; packages/service/OPERATIONS.md, "Backup". */
import { readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';

import { backUpSqliteStore } from '@reseller/service/maintenance';

import { counted, dataDirectory, optionsOf, pathOf, runCommand, UsageError } from './command-line.ts';
import { describeCopy } from './describe-copy.ts';
import { invocationOf } from './invocation.ts';

const USAGE = `Usage: ${invocationOf('backup')} (--to FILE | --in DIRECTORY [--keep NUMBER]) [--from DIRECTORY]

  --to    a new file for the copy
  --in    a directory for the copy, which is named after the time
  --keep  how many copies the directory keeps, with the newest; default: all
  --from  data directory of the service; default: RESELLER_DATA_DIR or .data
`;
const NAME = /^reseller-\d{8}T\d{6}Z\.sqlite$/;

await runCommand(() => {
  const { from, to, in: folder, keep } = optionsOf(['from', 'to', 'in', 'keep'], USAGE);
  if ((to === undefined) === (folder === undefined)) throw new UsageError(`The target is missing. Give --to or --in.\n\n${USAGE}`);
  if (keep !== undefined && (folder === undefined || !/^[1-9]\d{0,3}$/.test(keep)))
    throw new UsageError(`--keep needs --in and a number from 1 to 9999; it is '${keep}'.\n\n${USAGE}`);
  const file = to === undefined ? join(pathOf(folder ?? ''), nameAt(new Date())) : pathOf(to);
  const copy = backUpSqliteStore({ from: dataDirectory(from), to: file });
  const deleted = keep === undefined ? 0 : deleteOld(pathOf(folder ?? ''), Number(keep));
  return `Backed up ${describeCopy(copy)} to ${file}, and verified the copy. Keep the file ${basename(file)}.sha256 with it.\n${deleted === 0 ? '' : `Deleted ${counted(deleted, 'older backup')}.\n`}The secret is not in it. Keep RESELLER_SECRET, or the file secret of the data directory, in another place.\n`;
});

/** Such as reseller-20261128T021500Z.sqlite, so that names are in the order of their times. */
function nameAt(time: Date): string {
  return `reseller-${time.toISOString().replaceAll(/[-:]|\.\d+/g, '')}.sqlite`;
}

/** Deletes all but the newest copies. */
function deleteOld(folder: string, keep: number): number {
  const old = readdirSync(folder)
    .filter((name) => NAME.test(name))
    .toSorted()
    .slice(0, -keep);
  for (const name of old) for (const file of [name, `${name}.sha256`]) rmSync(join(folder, file), { force: true });
  return old.length;
}
