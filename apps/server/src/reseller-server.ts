/** The commands of an installation as one program: `reseller-server COMMAND`. */

interface Command {
  readonly does: string;
  run(): Promise<unknown>;
}

const COMMANDS: Readonly<Record<string, Command>> = {
  start: { does: 'run the service', run: () => import('./main.ts') },
  doctor: { does: 'show the state of the service, and fail if something needs a person', run: () => import('./doctor.ts') },
  jobs: { does: 'show the queues of the running service, or try failed jobs again', run: () => import('./jobs.ts') },
  migrate: { does: 'bring the tables of the store up to date', run: () => import('./migrate.ts') },
  backup: { does: 'copy an embedded store while the service runs', run: () => import('./backup.ts') },
  restore: { does: 'restore an embedded store from a backup', run: () => import('./restore.ts') },
  'raise-tokens': { does: 'raise all fencing tokens after a restore', run: () => import('./raise-tokens.ts') },
  audit: { does: 'verify the chain of audit records', run: () => import('./verify-audit.ts') },
  move: { does: 'copy an embedded store into PostgreSQL', run: () => import('./move.ts') },
  reseal: { does: 'encrypt the stored secrets with a new secret', run: () => import('./reseal.ts') },
};

const USAGE = `Usage: reseller-server COMMAND [OPTIONS]

${Object.entries(COMMANDS)
  .map(([name, { does }]) => `  ${name.padEnd(13)} ${does}\n`)
  .join('')}
reseller-server COMMAND --help shows its options. The variables of the service apply to all commands.
`;

const [name = ''] = process.argv.splice(2, 1);
const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
if (command) await command.run();
else if (name === '--help') process.stdout.write(USAGE);
else {
  process.stderr.write(`${name === '' ? 'The command is missing.' : `There is no command '${name}'.`}\n\n${USAGE}`);
  process.exitCode = 1;
}
