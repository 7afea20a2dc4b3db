/** Values that a shell completes: identifiers of the service, and the names of profiles. The library completes commands and options. */
import root from '@bomb.sh/tab';
import { valueAt } from '@reseller/contract';
import type { Operation } from '@reseller/contract';
import type { Command } from 'commander';

import { operatorApi, resellerApi } from './api.ts';
import type { Api } from './api.ts';
import { callerOf } from './caller.ts';
import { wordsOf } from './help-texts.ts';
import { inputOptions, pathArguments } from './input.ts';
import type { Io } from './io.ts';
import { readSettings } from './profiles.ts';
import { findTarget } from './target.ts';

/** A shell waits for this time, in milliseconds. */
const TIMEOUT_MS = 1_500;
const MAX_VALUES = 200;

/** The lists of what identifies a resource. In the operator document, `x-list` names most of them. */
const LISTS: Readonly<Record<Api['name'], Readonly<Record<string, string>>>> = {
  reseller: {
    vmid: 'listVms',
    ip_address: 'listVmRdns',
    backup_id: 'listVmBackups',
    domain: 'listDomains',
    handle: 'listHandles',
    identifier: 'listDedicatedServers',
    invoiceID: 'listInvoices',
    ssh_key_id: 'listSshKeys',
    key_id: 'listKeys',
    webhook_id: 'listWebhooks',
    record_id: 'listDomainDns',
    hostsystem: 'listVmHosts',
  },
  operator: {
    operator_token_id: 'listOperatorTokens',
    verifier_id: 'listVerifiers',
    snapshot: 'listSnapshots',
    fault_id: 'listFaults',
  },
};

/** Names of fields of a form, each of which identifies something that exists. A field `domain` is the name of a new one. */
const OF_FORMS: ReadonlySet<string> = new Set(['ssh_key_id', 'hostsystem', 'handle', 'vmid']);

/** Lists of operations whose parameter has another meaning: an offer is not a server yet, and prices of a TLD are not those of a host system. */
const OF_OPERATIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  assignIp: { ip_address: 'listIps' },
  quoteAssignIp: { ip_address: 'listIps' },
  releaseIp: { ip_address: 'listIps' },
  getDedicatedOffer: { identifier: 'listDedicatedMarket' },
  purchaseDedicatedServer: { identifier: 'listDedicatedMarket' },
  quotePurchaseDedicatedServer: { identifier: 'listDedicatedMarket' },
  withdrawHostSystemPrices: { valid_from: 'listHostSystemPriceVersions' },
  withdrawTldPrices: { valid_from: 'listTldPriceVersions' },
};

interface ListOfEach {
  /** The list whose items have the values. */
  readonly list: string;
  /** The operation that returns the values of one item, and its parameter for the item. */
  readonly read: string;
  readonly parameter: string;
  /** The member of its result that has them, if it is not a list. */
  readonly member?: string;
}

/** What only another resource lists: the contacts of the domains, and the keys of the accounts. */
const OF_EACH: Readonly<Record<Api['name'], Readonly<Record<string, ListOfEach>>>> = {
  reseller: { handle: { list: 'listDomains', read: 'getDomain', parameter: 'domain', member: 'handle' } },
  operator: { api_key_id: { list: 'listAccounts', read: 'listApiKeys', parameter: 'account_id' } },
};
/** A key that is pressed must not send more requests. */
const MAX_READ = 20;

/** The properties that may identify an item, and those that name it for a person. */
const IDENTIFIERS = ['id', 'identifier', 'name', 'domain', 'tld'] as const;
const LABELS = ['hostname', 'name', 'label', 'displayname', 'title', 'number', 'type', 'domain', 'status', 'state'] as const;

/**
 * The script of the library runs commands in the typed line on Tab, and needs the package bash-completion. This one needs only bash.
 * Bash makes a word of the sign in `--os=debian_12`.
 */
export const BASH_SCRIPT = String.raw`# bash completion for reseller
__reseller_complete() {
    local word line words=() current=''
    for word in "${'$'}{COMP_WORDS[@]:1:COMP_CWORD}"; do
        current=$word
        if [[ $word == '=' ]]; then current=''; else words+=("$word"); fi
    done
    if [[ $word == '=' ]]; then words+=(''); fi
    COMPREPLY=()
    while IFS= read -r line; do
        line=${'$'}{line%%$'\t'*}
        if [[ $line != :* && $line == "$current"* ]]; then COMPREPLY+=("$line"); fi
    done < <(reseller complete -- "${'$'}{words[@]}" 2>/dev/null)
}
complete -F __reseller_complete reseller
`;

interface Value {
  readonly value: string;
  readonly label: string;
}

/** What the last word of a command line stands for. */
interface Place {
  readonly command: Command;
  /** The arguments before it. */
  readonly values: readonly string[];
  /** The option whose value it is. */
  readonly option: string | undefined;
  readonly profile: string | undefined;
}

/** Writes `--os=debian_12` before the last word as two words. The library would take the next word for its value. */
export function separated(words: readonly string[]): string[] {
  return words.flatMap((word, index) => {
    const [, option, value] = /^(--[^=]+)=(.*)$/s.exec(word) ?? [];
    return option === undefined || value === undefined || index === words.length - 1 ? [word] : [option, value];
  });
}

/**
 * Offers the values that fit the last word. A service that does not respond in time, or refuses the request, offers none, because a shell
 * shows no errors while a person types.
 *
 * @param words The words after the name of the program, `separated`.
 */
export async function completeValues(io: Io, program: Command, words: readonly string[]): Promise<void> {
  const place = parseWords(program, words);
  const known = root.commands.get(wordsOf(place.command).slice(1).join(' '));
  if (!known) return;
  const { option, command, values } = place;
  const argument = command.registeredArguments[values.length];
  if (option === undefined && argument === undefined) return;
  const found = option === 'profile' ? profileNames(io) : await fetchValues(io, place, option ?? argument?.name() ?? '').catch(() => []);
  function offer(complete: (value: string, description: string) => void): void {
    for (const { value, label } of found) complete(value, label);
  }
  if (option === undefined) known.argument(argument?.name() ?? '', offer, argument?.variadic);
  else if (found.length > 0) known.option(option, known.options.get(option)?.description ?? '', offer);
}

function parseWords(program: Command, words: readonly string[]): Place {
  let command = program;
  const values: string[] = [];
  let option: string | undefined;
  let profile: string | undefined;
  for (const word of words.slice(0, -1)) {
    const inner = command.commands.find((one) => one.name() === word);
    if (option !== undefined) {
      if (option === 'profile') profile = word;
      option = undefined;
    } else if (word.startsWith('-')) {
      const named = command.options.find(({ short, long }) => word === short || word === long);
      option = named?.required === true ? named.long?.slice(2) : undefined;
    } else if (inner && values.length === 0) command = inner;
    else values.push(word);
  }
  return { command, values, option, profile };
}

function profileNames({ env }: Io): readonly Value[] {
  return readSettings(env).profiles.map(({ name, baseUrl, operatorUrl }) => ({ value: name, label: baseUrl ?? operatorUrl ?? '' }));
}

async function fetchValues(io: Io, { command, values, profile }: Place, word: string): Promise<readonly Value[]> {
  const name = word.replaceAll('-', '_');
  const [, group, ...others] = wordsOf(command);
  const [api, words] = group === 'operator' ? [operatorApi(), others] : [resellerApi(), wordsOf(command).slice(1)];
  const { operation } = api.commands.find((one) => one.words.join(' ') === words.join(' ')) ?? {};
  if (!operation) return name === 'name' && words[0] === 'profile' ? profileNames(io) : [];
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const ended = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  const target = await Promise.race([findTarget(io, profile), ended]);
  const caller = callerOf(io, api, target);
  async function fetchData(id: string | undefined, given: ReadonlyMap<string, string | undefined>): Promise<unknown> {
    const wanted = api.commands.find((one) => one.operation.id === id)?.operation;
    if (!wanted) return [];
    const path: Record<string, string> = {};
    for (const parameter of pathArguments(wanted)) {
      const value = given.get(parameter.name);
      if (value === undefined) return [];
      path[parameter.name] = value;
    }
    const hasLimit = inputOptions(api.document, wanted).some((one) => one.in === 'query' && one.name === 'limit');
    const input = { path, query: hasLimit ? { limit: MAX_VALUES } : {}, body: undefined };
    return (await Promise.race([caller.call(wanted, input, { signal }), ended])).data;
  }
  const each = OF_EACH[api.name][name];
  if (each) {
    const items = itemsOf(await fetchData(each.list, new Map())).flatMap((item) => valueOf(item, each.parameter));
    const found = await Promise.all(items.slice(0, MAX_READ).map(({ value }) => fetchData(each.read, new Map([[each.parameter, value]]))));
    const contained = found.flatMap((data) =>
      each.member === undefined ? itemsOf(data) : Object.values(Object(Object(data)[each.member])),
    );
    return contained.flatMap((item) => valueOf(item, name));
  }
  // The list of the records of a domain needs the domain, which is an argument before.
  const given = new Map(pathArguments(operation).map((parameter, index) => [parameter.name, values[index]]));
  return itemsOf(await fetchData(listFor(api, operation, name), given)).flatMap((item) => valueOf(item, name));
}

function listFor(api: Api, operation: Operation, name: string): string | undefined {
  const ofOperation = OF_OPERATIONS[operation.id]?.[name];
  if (ofOperation !== undefined) return ofOperation;
  const parameter = operation.parameters.find((one) => one.name === name);
  const field = [...(operation.body?.fields.values() ?? [])].find((one) => one.name === name);
  const pointer = parameter?.holder ?? field?.pointer;
  const { 'x-list': marked }: { 'x-list'?: unknown } = Object(pointer && valueAt(api.document, pointer));
  if (typeof marked === 'string') return marked;
  const known = parameter?.in === 'path' ? parameter.name : field && OF_FORMS.has(field.name) ? field.name : '';
  return LISTS[api.name][known];
}

/** The items of a list, which is the data or a member of it, or a map by identifier. */
function itemsOf(data: unknown): readonly unknown[] {
  if (Array.isArray(data)) return data;
  const members = Object.entries(Object(data));
  const inner = members.find(([, value]) => Array.isArray(value));
  if (inner) return Array.isArray(inner[1]) ? inner[1] : [];
  return members.map(([id, item]) => ({ ...Object(item), id }));
}

function valueOf(item: unknown, name: string): readonly Value[] {
  if (typeof item === 'string') return [{ value: item, label: '' }];
  function text(property: string): string | undefined {
    const value: unknown = Reflect.get(Object(item), property);
    return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
  }
  const property = [name, ...IDENTIFIERS].find((one) => text(one) !== undefined);
  const value = property === undefined ? undefined : text(property);
  // A value with other characters would need quotes, which differ between shells.
  if (value === undefined || !/^[\w.:@%+-]+$/.test(value)) return [];
  const label = LABELS.filter((one) => one !== property)
    .map(text)
    .find((one) => one !== undefined);
  return [{ value, label: label?.replaceAll(/\p{C}/gu, '') ?? '' }];
}
