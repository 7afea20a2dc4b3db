/** Carries out the call of a tool. The user is asked before anything that costs, ends, redirects or gives power. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';

import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { moneyOf, worthOf } from '@reseller/contract/engine';
import type { Price } from '@reseller/contract/engine';

import { buyOnce } from '../buy-once.ts';
import type { Caller, Result } from '../caller.ts';
import { exitCodeOf } from '../errors.ts';
import { EXIT, Failure } from '../failure.ts';
import { stateFolder } from '../folders.ts';
import { inputOptions, pathArguments } from '../input.ts';
import type { Input } from '../input.ts';
import { jsonOf } from '../output.ts';
import { describePrice, presentExpiry, quote } from '../price.ts';
import { writePrivate } from '../private-file.ts';
import { withoutSecrets } from '../secrets.ts';
import type { Budget } from './budget.ts';
import { costOf, customerOf, presentCostOf } from './cost.ts';
import { effectOf, questionOf, warningOf } from './effects.ts';
import { invoiceFile } from './invoice-file.ts';
import { DEFAULT_LIMIT, MAX_LIMIT, pageOf } from './results.ts';
import type { Page } from './results.ts';
import type { OperationTool } from './tools.ts';

/** The state that the calls of one server share. */
export interface Session {
  /** The variables of the program, which name its folders. */
  readonly env: NodeJS.ProcessEnv;
  /** The server of the client, which asks its user. */
  readonly server: Server;
  readonly callers: ReadonlyMap<string, Caller>;
  readonly budget: Budget;
  readonly maxTokens: number;
  /** Changes in progress, in all sessions of this process. */
  readonly running: Set<string>;
}

type Given = Readonly<Record<string, unknown>>;

/** @throws Failure or ResellerError if it was not carried out. */
export async function callTool(session: Session, tool: OperationTool, given: Given, signal: AbortSignal): Promise<unknown> {
  const { api, operation } = tool;
  const caller = session.callers.get(api.name);
  if (!caller) throw new TypeError(`There is no caller of the ${api.name} API.`);
  const input = readArguments(tool, given);
  if (!operation.readOnly) return runOnce(session, JSON.stringify([tool.tool.name, input]), () => change(session, tool, caller, input));
  const page = pageFrom(given, session.maxTokens);
  const options = new Map(inputOptions(api.document, operation).map((option) => [option.name, option]));
  const { data } = await caller.call(operation, withOwnLimit(input, options.get('limit')?.in, page), { signal });
  const shown = withoutSecrets(api.document, data);
  if (options.has('offset')) return ownPage(shown, page);
  const pdf = tool.keepsSecrets ? await invoiceFile(session.env, operation, data, signal) : undefined;
  const result = pageOf(shown, page);
  return pdf === undefined ? result : { ...Object(result), pdf };
}

/** A list of the service that has pages itself returns the wanted one. */
function withOwnLimit(input: Input, place: 'query' | 'body' | undefined, { limit }: Page): Input {
  if (place === 'query') return { ...input, query: { limit, ...input.query } };
  return place === 'body' ? { ...input, body: { limit, ...input.body } } : input;
}

/** The service has skipped the items before the offset. */
function ownPage(data: unknown, page: Page): unknown {
  const shown: unknown = pageOf(data, { ...page, offset: 0 });
  const { next_offset: next, total }: { next_offset?: unknown; total?: unknown } = Object(shown);
  const count = typeof next === 'number' ? next : typeof total === 'number' ? total : 0;
  if (!Array.isArray(data) || count === 0) return shown;
  const offset = page.offset + count;
  const isLast = typeof next !== 'number' && data.length < page.limit;
  const more = isLast ? {} : { next_offset: offset, how_to_go_on: `Call the tool again with the same input and offset ${offset}.` };
  return { items: Object(shown).items, ...more };
}

/** Two equal calls at once are one intention: a model repeats a call that takes long. */
async function runOnce<Done>({ running }: Session, call: string, run: () => Promise<Done>): Promise<Done> {
  if (running.has(call)) {
    throw new Failure(
      'Nothing was sent: the same call is in progress. Wait for its result, and call the tool again only to do it twice.',
      EXIT.conflict,
    );
  }
  running.add(call);
  try {
    return await run();
  } finally {
    running.delete(call);
  }
}

async function change(session: Session, tool: OperationTool, caller: Caller, input: Input): Promise<unknown> {
  const { api, operation } = tool;
  const isPurchase = effectOf(api, operation) === 'cost';
  const { data, message } = await (isPurchase ? purchase : harmlessOrAsked)(session, tool, caller, input);
  const shown = withoutSecrets(api.document, data);
  const secrets =
    jsonOf(shown) === jsonOf(data) ? {} : { secrets: `The user can read them in ${keepSecrets(session.env, tool.tool.name, data)}` };
  return shown === null || shown === undefined
    ? { message: message || 'Done.' }
    : Object.keys(secrets).length === 0
      ? pageOf(shown, pageFrom({}, session.maxTokens))
      : { ...Object(pageOf(shown, pageFrom({}, session.maxTokens))), ...secrets };
}

async function harmlessOrAsked({ server }: Session, { api, operation }: OperationTool, caller: Caller, input: Input): Promise<Result> {
  const effect = effectOf(api, operation);
  if (effect !== undefined) {
    const customer = await customerOf(api, caller, input);
    await elicitConfirmation(server, questionOf(warningOf(effect, operation), operation.summary, input, customer));
  }
  return caller.call(operation, input);
}

async function purchase(session: Session, { api, operation }: OperationTool, caller: Caller, input: Input): Promise<Result> {
  const hasQuote = operation.billable && api.name === 'reseller';
  const expires = hasQuote ? await presentExpiry(api, caller, operation, input) : undefined;
  const { price, keyLifetime } = hasQuote
    ? await quote(api, caller, operation, input)
    : { price: await costOf(api, caller, operation.id, input), keyLifetime: undefined };
  if (price === undefined) throw new Failure('Nothing was sent: the service does not state what this costs.', EXIT.tooExpensive);
  const present = await presentCostOf(api, caller, operation.id, input);
  const difference = price === null ? 0n : worthOf(price) - (present === undefined ? 0n : worthOf(present));
  const worth = difference > 0n ? difference : 0n;
  const customer = await customerOf(api, caller, input);
  if (price !== null) assertWithinMaxPrice(price, input);
  // Before the question, so that two purchases at once cannot both count on the same money.
  if (price !== null) session.budget.take(worth, `it costs ${describePrice(price)}`);
  try {
    await elicitConfirmation(
      session.server,
      questionOf(
        `${expires === undefined ? '' : `Expires: ${expires}. `}Price: ${price === null ? 'nothing' : describePrice(price)}`,
        operation.summary,
        input,
        customer,
      ),
    );
    return hasQuote && price !== null
      ? await buyOnce({ env: session.env, caller, operation, input, price, keyLifetime, expires }, async (result) => result)
      : await caller.call(operation, input);
  } catch (error) {
    if (exitCodeOf(error) !== EXIT.unknown && price !== null) session.budget.giveBack(worth);
    throw error;
  }
}

/** @throws Failure if the service would refuse the purchase, so that nobody is asked about it. */
function assertWithinMaxPrice(price: Price, { body }: Input): void {
  const max = moneyOf(body?.['max_price']);
  if (max === undefined || price.net <= max) return;
  throw new Failure(`Nothing was sent: it costs ${describePrice(price)}, which is more than max_price.`, EXIT.tooExpensive);
}

/** A person decides in this time, in milliseconds. */
const QUESTION_TIMEOUT_MS = 10 * 60_000;

/** @throws Failure unless the user confirms. */
async function elicitConfirmation(server: Server, message: string): Promise<void> {
  if (!server.getClientCapabilities()?.elicitation) {
    throw new Failure('Nothing was sent: this client cannot ask its user for confirmation (elicitation).', EXIT.notConfirmed);
  }
  const answer = await server.elicitInput(
    {
      message,
      requestedSchema: { type: 'object', properties: { confirm: { type: 'boolean', title: 'Do it' } }, required: ['confirm'] },
    },
    { timeout: QUESTION_TIMEOUT_MS },
  );
  if (answer.action !== 'accept' || answer.content?.['confirm'] !== true) {
    throw new Failure('Nothing was sent: the user did not confirm.', EXIT.notConfirmed);
  }
}

/** Secrets are for the user, not for the model. @returns the file that only the user can read */
function keepSecrets(env: NodeJS.ProcessEnv, tool: string, data: unknown): string {
  const file = join(secretsFolder(env), `${tool}-${randomUUID()}.json`);
  writePrivate(file, `${jsonOf(data, 2)}\n`);
  return file;
}

/** The folder with the secrets of results. */
export function secretsFolder(env: NodeJS.ProcessEnv): string {
  return join(stateFolder(env), 'secrets');
}

/** @throws Failure naming every property that the tool does not have, or that is missing. */
function readArguments({ api, operation, tool }: OperationTool, given: Given): Input {
  const known = Object.keys(tool.inputSchema.properties ?? {});
  const unknown = Object.keys(given).filter((name) => !known.includes(name));
  const missing = (tool.inputSchema.required ?? []).filter((name) => given[name] === undefined);
  if (unknown.length > 0) throw new Failure(`${tool.name} has no ${unknown.join(', ')}. It has ${known.join(', ') || 'no input'}.`);
  if (missing.length > 0) throw new Failure(`${tool.name} needs ${missing.join(', ')}.`);
  const path = Object.fromEntries(pathArguments(operation).map(({ name }) => [name, String(given[name])]));
  const query: Record<string, unknown> = {};
  const body: Record<string, unknown> = {};
  for (const { name, in: place } of inputOptions(api.document, operation)) {
    if (given[name] !== undefined) (place === 'query' ? query : body)[name] = given[name];
  }
  const hasBody = operation.body && (operation.body.required || Object.keys(body).length > 0);
  return { path, query, body: hasBody ? body : undefined };
}

function pageFrom({ limit, offset, summary }: Given, maxTokens: number): Page {
  const wanted = typeof limit === 'number' ? Math.trunc(limit) : DEFAULT_LIMIT;
  return {
    limit: Math.min(MAX_LIMIT, Math.max(1, wanted)),
    offset: typeof offset === 'number' ? Math.max(0, Math.trunc(offset)) : 0,
    summary: summary === true,
    maxTokens,
  };
}
