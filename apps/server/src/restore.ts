/** Restores the embedded store from a backup; packages/service/OPERATIONS.md, "Restore". */
import { restoreSqliteStore } from '@reseller/service/maintenance';

import { dataDirectory, flagOf, optionsOf, pathOf, runCommand, UsageError } from './command-line.ts';
import { describeCopy } from './describe-copy.ts';
import { invocationOf } from './invocation.ts';

const USAGE = `Usage: ${invocationOf('restore')} --from FILE [--to DIRECTORY] [--without-checksum]

  --from              the file of a backup, with its checksum in a file .sha256 next to it
  --to                a data directory without a store; default: RESELLER_DATA_DIR or .data
  --without-checksum  restore a backup without its checksum: nobody can say whether its content was altered
`;
const FLAG = 'without-checksum';

await runCommand(() => {
  const { from, to } = optionsOf(['from', 'to'], USAGE, [FLAG]);
  if (from === undefined) throw new UsageError(`The backup is missing. Give --from.\n\n${USAGE}`);
  const target = dataDirectory(to);
  const copy = restoreSqliteStore({ from: pathOf(from), to: target, needsChecksum: !flagOf(FLAG, USAGE, ['from', 'to']) });
  const verified = copy.hasChecksum
    ? 'and verified it with its checksum'
    : 'and verified its structure. No file with its checksum was next to it';
  return `Restored ${describeCopy(copy)} to ${target}, ${verified}.\nStart the service with the secret that it had: set RESELLER_SECRET, or put the file secret into the directory.\n`;
});
