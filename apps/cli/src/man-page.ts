/** The manual pages, in the macros of man(7): one of the program, and one for each group of commands. */
import type { Command } from 'commander';

import { exitCodes } from './failure.ts';
import { commandExample, wordsOf } from './help-texts.ts';

/** The pages by their names, such as `reseller` and `reseller-operator-vms`. */
export function manPages(program: Command): ReadonlyMap<string, string> {
  const groups = groupsOf(program);
  return new Map([[program.name(), mainPage(program, groups)], ...groups.map((group) => [pageName(group), groupPage(group)] as const)]);
}

/** The groups that have a page. The groups of the operator API have pages of their own. */
function groupsOf(command: Command): readonly Command[] {
  return command.commands.flatMap((inner) => {
    if (inner.commands.length === 0) return [];
    return inner.name() === 'operator' ? groupsOf(inner) : [inner];
  });
}

function mainPage(program: Command, groups: readonly Command[]): string {
  return page(program, [
    '.SH SYNOPSIS',
    '.B reseller',
    '.I command',
    '[options]',
    '.SH DESCRIPTION',
    roff(program.description()),
    '.SH GROUPS OF COMMANDS',
    ...groups.flatMap((group) => ['.TP', `.BR ${roff(pageName(group))} (1)`, roff(group.description())]),
    '.SH COMMANDS',
    ...program.commands.filter(({ commands }) => commands.length === 0).flatMap(section),
    '.SH EXIT STATUS',
    ...exitCodes().flatMap(([code, meaning]) => ['.TP', `.B ${code}`, roff(meaning)]),
    '.SH ENVIRONMENT',
    ...ENVIRONMENT.flatMap(([name, meaning]) => ['.TP', `.B ${name}`, roff(meaning)]),
  ]);
}

function groupPage(group: Command): string {
  return page(group, [
    '.SH SYNOPSIS',
    `.B ${roff(wordsOf(group).join(' '))}`,
    '.I command',
    '[options]',
    '.SH COMMANDS',
    ...leaves(group).flatMap(section),
    '.SH SEE ALSO',
    '.BR reseller (1)',
  ]);
}

function page(command: Command, lines: readonly string[]): string {
  const [name, summary] = [
    pageName(command),
    command.parent ? command.description() : 'command line of the Reseller Infrastructure Service API',
  ];
  return [`.TH ${roff(name.toUpperCase())} 1`, '.SH NAME', `${roff(name)} \\- ${roff(summary)}`, ...lines, ''].join('\n');
}

function pageName(command: Command): string {
  return wordsOf(command).join('-');
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
  const names = command.registeredArguments.map((argument) => `<${argument.name()}>`);
  const example = commandExample(command);
  return [
    `.SS ${roff([...wordsOf(command), ...names].join(' '))}`,
    roff(command.description()),
    ...command.options.flatMap((option) => ['.TP', `.B ${roff(option.flags)}`, roff(option.description)]),
    ...(example === undefined ? [] : ['.PP', 'Example:', '.PP', '.EX', roff(example), '.EE']),
  ];
}

/** Text that roff does not take for requests or escapes. */
function roff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll(/\P{ASCII}/gu, (character) => `\\[u${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`)
    .replace(/^(?=[.'])/, '\\&');
}
