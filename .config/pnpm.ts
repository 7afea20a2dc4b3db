/** The command that runs pnpm: the pnpm that runs this process, or else the one that npx finds. */
export const [PNPM, ...PNPM_ARGUMENTS] = commandOf(process.env['npm_execpath']);

function commandOf(running: string | undefined): readonly [string, ...string[]] {
  if (running === undefined) return ['npx', '--yes', 'pnpm@12'];
  return /\.[cm]?js$/.test(running) ? [process.execPath, running] : [running];
}
