/** Copies the embedded store while the service runs; packages/service/OPERATIONS.md, "Backup". */
import { basename } from 'node:path';

import { backUpSqliteStore } from '@reseller/service/maintenance';

import { dataDirectory, optionsOf, pathOf, runCommand, UsageError } from './command-line.ts';
import { describeCopy } from './describe-copy.ts';

const USAGE = `Usage: npx -y pnpm@12 backup --to FILE [--from DIRECTORY]

  --to    a new file for the copy
  --from  data directory of the service; default: RESELLER_DATA_DIR or .data
`;

await runCommand(() => {
  const { from, to } = optionsOf(['from', 'to'], USAGE);
  if (to === undefined) throw new UsageError(`The target is missing. Give --to.\n\n${USAGE}`);
  const copy = backUpSqliteStore({ from: dataDirectory(from), to: pathOf(to) });
  return `Backed up ${describeCopy(copy)} to ${pathOf(to)}, and verified the copy. Keep the file ${basename(pathOf(to))}.sha256 with it.\nThe secret is not in it. Keep RESELLER_SECRET, or the file secret of the data directory, in another place.\n`;
});
