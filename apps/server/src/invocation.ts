import { basename } from 'node:path';

/** How a command is run: as `reseller-sandbox`, as a command of `reseller-server` in an installation, or else as a script of the repository. */
export function invocationOf(script: string, command = script): string {
  const program = basename(process.argv[1] ?? '');
  if (program.startsWith('reseller-sandbox')) return 'reseller-sandbox';
  return program.startsWith('reseller-server') ? `reseller-server ${command}` : `npx -y pnpm@12 ${script}`;
}
