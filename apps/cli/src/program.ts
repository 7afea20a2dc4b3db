/** The command line: one command for each operation of the documents, and those of the program itself. */
import type { Operation } from '@reseller/contract';
import { errorText } from '@reseller/contract';
import { showMoney } from '@reseller/contract/engine';
import { Argument, Command, Option } from 'commander';

import { operatorApi, resellerApi } from './api.ts';
import type { Api, ApiCommand } from './api.ts';
import { EXTERNAL_COMMANDS, runExternal, runServerCommand, SERVER_COMMANDS } from './external.ts';
import { EXIT, Failure, ProgramFailed } from './failure.ts';
import { addExample, exampleOf, withCommands, wordsOf } from './help-texts.ts';
import { contentOf, descriptionAt, IF_MATCH, inputOptions, parseOption, pathArguments } from './input.ts';
import type { Input, InputOption } from './input.ts';
import type { Io } from './io.ts';
import { manPages } from './man-page.ts';
import { openBudget, resetBudget } from './mcp/budget.ts';
import { DEFAULT_MAX_TOKENS } from './mcp/results.ts';
import type { McpOptions } from './mcp/serve.ts';
import { FORMATS } from './output.ts';
import { addPendingCommands } from './pending-commands.ts';
import { addProfileCommands } from './profile-commands.ts';
import { runOperation } from './run-operation.ts';
import type { RunOptions } from './run-operation.ts';
import { budgetPlace, findTarget } from './target.ts';
import { isInteractive, openInBrowser, print } from './terminal.ts';
import { firstSentence, withoutMarkdown } from './text.ts';
import { VERSION } from './version.ts';

const GROUPS: Readonly<Record<string, string>> = {
  vm: 'Virtual servers',
  dedicated: 'Dedicated servers',
  domain: 'Domains',
  'domain dns': 'DNS records of a domain',
  'domain handle': 'Contacts of domains',
  accounting: 'Invoices, payments, credit, prices and sales',
  account: 'The log of your requests, API keys, and one-time codes for the support of the provider',
  'account keys': 'API keys',
  'account webhooks': 'Webhooks, which tell you of events',
  'domain dnssec': 'DNSSEC of a domain',
  ip: 'IP addresses of virtual servers',
  'vm abuse': 'Complaints about a virtual server',
  'vm backup': 'Backups of a virtual server',
  'vm iso': 'ISO files of a virtual server',
  'vm rdns': 'Reverse DNS of the addresses of a virtual server',
  'vm ssh-key': 'SSH keys that purchases can name',
  'operator accounts': 'Resellers',
  'operator api-keys': 'API keys of resellers',
  'operator audit': 'Who changed what, and refused credentials',
  'operator bookkeeping': 'Documents and payments for the bookkeeping',
  'operator clock': 'The clock of a sandbox',
  'operator dedicated': 'Dedicated servers and their market',
  'operator domains': 'Domains of all resellers',
  'operator faults': 'Faults that a sandbox makes for tests',
  'operator host-systems': 'Host systems, their prices and nodes',
  'operator invoices': 'Invoices, credit notes and the seller',
  'operator ip-pools': 'Pools of IP addresses',
  'operator jobs': 'Due and failed jobs',
  'operator os-images': 'Operating systems',
  'operator otp': 'One-time codes of resellers',
  'operator payments': 'Payments and refunds',
  'operator requests': 'Requests of resellers',
  'operator sales': 'Discount campaigns',
  'operator sandbox': 'Accounts and data of a sandbox',
  'operator settings': 'Settings of the service',
  'operator snapshots': 'Snapshots of a sandbox',
  'operator tld-prices': 'Prices of domains',
  'operator tokens': 'Operator tokens',
  'operator verifiers': 'Third parties that verify one-time codes',
  'operator vms': 'Virtual servers of all resellers',
};

/** The whole program. */
export function buildProgram(io: Io): Command {
  const program = new Command('reseller')
    .description('The command line of the Reseller Infrastructure Service API. Its commands are the operations of the OpenAPI documents.')
    .version(VERSION)
    .showHelpAfterError('Run the command with --help to see what it takes.')
    .configureHelp({ showGlobalOptions: false })
    .helpCommand(false)
    .enablePositionalOptions()
    .configureOutput({ writeOut: (text) => void io.stdout.write(text), writeErr: (text) => void io.stderr.write(text) });
  program.commandsGroup('Your account:');
  addOperations(io, program, resellerApi());
  program.commandsGroup('The provider:');
  const operator = program.command('operator').description('The operator API, for everything that the provider does by hand');
  addOperations(io, operator, operatorApi());
  addServerCommands(io, program);
  program.commandsGroup('Tools:');
  addExternalCommands(io, program);
  addMcp(io, program);
  program.commandsGroup('This program:');
  addProfileCommands(io, program);
  addPendingCommands(io, program);
  addOpen(io, program);
  program
    .command('man')
    .description('Print a manual page: of this program, or of a group of commands such as vm or operator vms')
    .argument('[group...]', 'The words of the group')
    .action((words: readonly string[]) => print(io, pageFor(program, words)));
  return program;
}

/** Pages of the console, by the word of the command. */
const PAGES_OF_CONSOLE: Readonly<Record<string, string>> = {
  account: 'accounts',
  domain: 'domains',
  invoice: 'invoices',
  server: 'servers',
  vm: 'vms',
};

function addOpen(io: Io, program: Command): void {
  program
    .command('open')
    .description('Print the address of a page of the console, such as `reseller open vm 48213`, and open it in the browser of this machine')
    .addArgument(new Argument('<kind>', 'What to open').choices(Object.keys(PAGES_OF_CONSOLE)))
    .argument('<identifier>', 'Its identifier')
    .option('--profile <name>', 'The profile of the service. Default: the current one')
    .action(async (kind: string, identifier: string, { profile }: { profile?: string }) => {
      const { operatorUrl, source } = await findTarget(io, profile);
      if (!operatorUrl)
        throw new Failure(`The console is at the operator API, whose address is not known (${source}). Set RESELLER_OPERATOR_URL.`);
      const url = `${operatorUrl.replace(/\/$/, '')}/console/${PAGES_OF_CONSOLE[kind] ?? kind}/${encodeURIComponent(identifier)}`;
      await print(io, `${url}\n`);
      if (isInteractive(io)) openInBrowser(url);
    });
}

/** @throws Failure if there is no such group. */
function pageFor(program: Command, words: readonly string[]): string {
  const pages = manPages(program);
  const page = pages.get([program.name(), ...words].join('-'));
  if (page !== undefined) return page;
  const known = [...pages.keys()]
    .slice(1)
    .map((name) => name.replace(/^reseller-(?<api>operator-)?/, (_, api?: string) => (api ? 'operator ' : '')));
  throw new Failure(`'${words.join(' ')}' is not a group of commands. The groups are: ${known.join(', ')}.`);
}

function addOperations(io: Io, parent: Command, api: Api): void {
  const groups = new Map<string, Command>();
  function groupOf(words: readonly string[], { tag }: Pick<Operation, 'tag'>): Command {
    const name = words.join(' ');
    const word = words.at(-1);
    if (word === undefined) return parent;
    const group =
      groups.get(name) ??
      groupOf(words.slice(0, -1), { tag })
        .command(word)
        .description(GROUPS[api.name === 'operator' ? `operator ${name}` : name] ?? tag ?? name);
    groups.set(name, group);
    return group;
  }
  for (const one of api.commands) addOperation(io, groupOf(one.words.slice(0, -1), one.operation), api, one);
}

function addOperation(io: Io, parent: Command, api: Api, { words, operation }: ApiCommand): void {
  const command = parent
    .command(words.at(-1) ?? operation.id)
    .summary(operation.summary)
    .description(descriptionOf(api, operation));
  for (const parameter of pathArguments(operation)) {
    command.argument(`<${parameter.name}>`, withCommands(firstSentence(descriptionAt(api.document, parameter.holder))));
  }
  const options = inputOptions(api.document, operation);
  command.optionsGroup('Input:');
  for (const option of options) command.addOption(commanderOption({ ...option, description: withCommands(option.description) }));
  if (operation.body?.format === 'json')
    command.option('--body <file>', 'Read the fields from a file with JSON, or - for the standard input. Options replace fields');
  if (operation.parameters.some(({ name }) => name === IF_MATCH))
    command.option(
      '--if-match <version>',
      'Refuse the change if the resource no longer has this version, which the command that shows it prints',
    );
  addRunOptions(command, operation);
  const example = exampleOf(api, words, operation);
  if (example !== undefined) addExample(command, example);
  command.action(async () => {
    await runOperation({ io, api, operation, input: await readInput(io, operation, options, command), options: runOptions(io, command) });
  });
}

function descriptionOf(api: Api, operation: Operation): string {
  const facts = [
    operation.billable ? 'It costs money, so the price is shown and you are asked first.' : '',
    operation.destructive ? 'It cannot be undone, so you are asked first.' : '',
  ];
  return [withCommands(withoutMarkdown(descriptionAt(api.document, operation.pointer))), ...facts].filter((text) => text !== '').join(' ');
}

function commanderOption({ flag, kind, items, required, description, choices, defaultValue, secret }: InputOption): Option {
  const value = kind === 'boolean' ? '[true|false]' : kind === 'array' ? `<${items}...>` : kind === 'json' ? '<json>' : `<${kind}>`;
  const notes = [
    firstSentence(description),
    kind === 'json' || kind === 'array' ? 'JSON, or @FILE.' : '',
    secret ? 'Keep it out of the history of the shell with @FILE, or @- for the standard input.' : '',
    required ? '(required)' : '',
    defaultValue === undefined ? '' : `(default: ${defaultValue})`,
  ];
  const option = new Option(`--${flag} ${value}`, notes.filter((text) => text !== '').join(' '));
  // Shown and completed. Other values are not refused here, because most enumerations of the documents are open.
  if (choices.length > 0) option.argChoices = [...choices];
  return option;
}

function addRunOptions(command: Command, { readOnly, billable, destructive, form }: Operation): void {
  command.optionsGroup('Options:');
  command.option('--profile <name>', 'The profile of the service. Default: the current one');
  command.addOption(new Option('-o, --output <format>', 'How the result is printed').choices(FORMATS).default('table'));
  command.option('--columns <names>', 'The columns of a table, separated by commas');
  command.option('--sort <column>', 'Sort lists by a column, or by -COLUMN with the largest first');
  command.option('--no-header', 'Print tables without the names of their columns');
  if (readOnly) {
    command.option('--show-secrets', 'Print passwords, keys and codes, which are *** otherwise');
    command.option('--watch [seconds]', 'Repeat it until you interrupt it, every 2 seconds by default');
  } else command.option('--dry-run', 'Show the request, and its price if it costs money, and send nothing');
  if (billable || destructive) command.option('-y, --yes', 'Do not ask');
  if (!readOnly && form)
    command.option('--idempotency-key <key>', 'Your own key of this request. The service carries out the same key once');
}

const DEFAULT_WATCH_SECONDS = 2;

function runOptions({ stdout }: Io, command: Command): RunOptions {
  const { profile, output, columns, sort, header, watch, yes, dryRun, idempotencyKey, showSecrets } = command.opts();
  const watchSeconds = watch === true ? DEFAULT_WATCH_SECONDS : watch === undefined ? undefined : Number(watch);
  if (watchSeconds !== undefined && !(watchSeconds >= 0.1))
    throw new Failure(`--watch must be a number of seconds of at least 0.1, got "${watch}".`);
  return {
    profile,
    format: output,
    columns: columns?.split(',').map((name: string) => name.trim()),
    sort,
    noHeader: header === false,
    width: stdout.isTTY ? stdout.columns : undefined,
    watchSeconds,
    yes: yes === true,
    dryRun: dryRun === true,
    showSecrets: showSecrets === true,
    idempotencyKey,
  };
}

/** @throws Failure naming every required option that is missing. */
async function readInput(io: Io, operation: Operation, options: readonly InputOption[], command: Command): Promise<Input> {
  const path = Object.fromEntries(pathArguments(operation).map(({ name }, index) => [name, command.args[index] ?? '']));
  const { body: bodyFile, ifMatch } = command.opts();
  const body: Record<string, unknown> = bodyFile === undefined ? {} : await bodyFrom(io, bodyFile);
  const query: Record<string, unknown> = {};
  for (const option of options) {
    const given: unknown = command.getOptionValue(attributeOf(command, option.flag));
    if (given === undefined) continue;
    (option.in === 'query' ? query : body)[option.name] = await parseGiven(io, option, given);
  }
  const missing = options.filter(({ required, name, in: place }) => required && (place === 'query' ? query : body)[name] === undefined);
  if (missing.length > 0) {
    throw new Failure(
      `${missing.map(({ flag }) => `--${flag}`).join(', ')} ${missing.length === 1 ? 'is' : 'are'} missing. See '${wordsOf(command).join(' ')} --help'.`,
    );
  }
  const headers = ifMatch === undefined ? undefined : { [IF_MATCH]: String(ifMatch) };
  return {
    path,
    query,
    body: operation.body && (operation.body.required || Object.keys(body).length > 0) ? body : undefined,
    ...(headers && { headers }),
  };
}

async function parseGiven(io: Io, option: InputOption, given: unknown): Promise<unknown> {
  if (given === true) return true;
  if (!Array.isArray(given)) return parseOption(io, option, String(given));
  const values: unknown[] = [];
  // One after another, because each may read the standard input.
  for (const text of given) values.push(await parseOption(io, option, String(text)));
  return values.flat();
}

async function bodyFrom(io: Io, file: string): Promise<Record<string, unknown>> {
  const text = await contentOf(io, `@${file}`, 'body');
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === 'object' && body !== null && !Array.isArray(body)) return { ...body };
  } catch (error) {
    throw new Failure(`The file of --body is not JSON: ${errorText(error)}.`, undefined, error);
  }
  throw new Failure('The file of --body must have a JSON object.');
}

function attributeOf(command: Command, flag: string): string {
  return command.options.find(({ long }) => long === `--${flag}`)?.attributeName() ?? flag;
}

function addServerCommands(io: Io, program: Command): void {
  const server = program.command('server').description('An installation of the service: start, backup, restore, and so on');
  for (const name of Object.keys(SERVER_COMMANDS) as (keyof typeof SERVER_COMMANDS)[]) {
    passThrough(server.command(name).description(SERVER_COMMANDS[name]), (given) => runServerCommand(io, name, given));
  }
}

function addExternalCommands(io: Io, program: Command): void {
  for (const external of EXTERNAL_COMMANDS) {
    passThrough(program.command(external.name).description(external.summary), (given) => runExternal(io, external, given));
  }
}

/** Passes all arguments on to another program, also `--help`. */
function passThrough(command: Command, run: (given: readonly string[]) => Promise<number>): void {
  command
    .argument('[arguments...]')
    .helpOption(false)
    .allowUnknownOption()
    .passThroughOptions()
    .action(async (given: readonly string[]) => {
      const code = await run(given);
      if (code !== EXIT.done) throw new ProgramFailed(code);
    });
}

function addMcp(io: Io, program: Command): void {
  program
    .command('mcp')
    .description(
      'Serve the operations as tools of the Model Context Protocol, over the standard input and output. Read-only by default. The user is asked before anything that costs, ends, redirects or gives power',
    )
    .option('--profile <name>', 'The profile of the service. Default: the current one')
    .option('--operator', 'Add the tools of the operator API')
    .option('--allow-writes', 'Add the tools that change something')
    .option(
      '--budget <amount>',
      'With --allow-writes: the most that all purchases may cost until reseller budget reset, in EUR. Each is still confirmed by the user',
      '0',
    )
    .option('--toolsets <names>', 'Only the tools of these groups, separated by commas, such as vm,domain')
    .option('--max-tokens <number>', 'The longest result', String(DEFAULT_MAX_TOKENS))
    .option('--http <port>', 'Serve clients on this machine over HTTP at this port, with a bearer token')
    .action(async (options: McpOptions) => {
      const { serveMcp } = await import('./mcp/serve.ts');
      await serveMcp(io, options);
    });
  const budget = program.command('budget').description('What the purchases of language models have cost');
  budget
    .command('show')
    .description('Show what was spent of the budgets of reseller mcp at a service')
    .option('--profile <name>', 'The profile of the service. Default: the current one')
    .action(async ({ profile }: { profile?: string }) =>
      print(io, `${showMoney(openBudget(io.env, 0n, budgetPlace(await findTarget(io, profile))).spent())} EUR\n`),
    );
  budget
    .command('reset')
    .description('Let reseller mcp spend its whole budget again at a service')
    .option('--profile <name>', 'The profile of the service. Default: the current one')
    .action(async ({ profile }: { profile?: string }) => resetBudget(io.env, budgetPlace(await findTarget(io, profile))));
}
