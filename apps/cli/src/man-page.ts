/** The manual page, in the macros of man(7). */
import type { Command } from 'commander';

import { exitCodes } from './failure.ts';

export function manPage(program: Command): string {
  return [
    '.TH RESELLER 1',
    '.SH NAME',
    'reseller \\- command line of the Reseller Infrastructure Service API',
    '.SH SYNOPSIS',
    '.B reseller',
    '.I command',
    '[options]',
    '.SH DESCRIPTION',
    roff(program.description()),
    '.SH COMMANDS',
    ...leaves(program).flatMap((command) => section(command)),
    '.SH EXIT STATUS',
    ...exitCodes().flatMap(([code, meaning]) => ['.TP', `.B ${code}`, roff(meaning)]),
    '.SH ENVIRONMENT',
    ...ENVIRONMENT.flatMap(([name, meaning]) => ['.TP', `.B ${name}`, roff(meaning)]),
    '',
  ].join('\n');
}

const ENVIRONMENT = [
  ['RESELLER_PROFILE', 'The profile to use.'],
  ['RESELLER_BASE_URL, RESELLER_API_KEY', 'The reseller API and its key, without a profile.'],
  ['RESELLER_OPERATOR_URL, RESELLER_OPERATOR_TOKEN', 'The operator API and its token, without a profile.'],
  ['RESELLER_CONFIG_DIR, RESELLER_STATE_DIR', 'Folders of the profiles and of pending purchases.'],
  ['RESELLER_KEYRING', 'With the value off, keys are kept in a file that only you can read.'],
  ['RESELLER_INSTALLATION', 'The folder of an installation of the service, for the commands of reseller server.'],
] as const;

function leaves(command: Command): readonly Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leaves);
}

function section(command: Command): readonly string[] {
  const words = [command.name()];
  for (let parent = command.parent; parent; parent = parent.parent) words.unshift(parent.name());
  const names = command.registeredArguments.map((argument) => `<${argument.name()}>`);
  return [
    `.SS ${roff([...words, ...names].join(' '))}`,
    roff(command.description()),
    ...command.options.flatMap((option) => ['.TP', `.B ${roff(option.flags)}`, roff(option.description)]),
  ];
}

/** Text that roff does not take for requests or escapes. */
function roff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^(?=[.'])/, '\\&');
}
