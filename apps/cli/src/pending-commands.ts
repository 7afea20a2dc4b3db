import type { Command } from 'commander';

import type { Io } from './io.ts';
import { render } from './output.ts';
import { forgetPending, listPending } from './pending.ts';
import { print } from './terminal.ts';

/** The commands about purchases whose outcome is not known. */
export function addPendingCommands(io: Io, program: Command): void {
  const pending = program.command('pending').description('Purchases of this machine whose outcome is not known yet');
  pending
    .command('list')
    .description('List them. To find out, run the same command again')
    .action(() =>
      print(
        io,
        render(
          listPending(io.env).map(({ id, operation, url, begunAt }) => ({ id, operation, url, begunAt })),
          { format: 'table', columns: undefined, width: undefined },
        ),
      ),
    );
  pending
    .command('forget')
    .description('Forget one, after you have looked whether it was made. The same command is a new purchase then')
    .argument('<id>', 'Its identifier, from the list')
    .action((id: string) => forgetPending(io.env, id));
}
