import { setTimeout as sleep } from 'node:timers/promises';

import type { OpenApiDocument } from '../document/document.ts';
import { isObject } from '../document/json.ts';
import { createMatcher } from '../document/match.ts';
import type { Match } from '../document/match.ts';
import type { Operation } from '../document/operation.ts';
import { pathParameters } from '../document/path-template.ts';
import { keysOf, schemaNodes } from '../document/schema.ts';
import { discoverCreated, identifierIn } from '../exchange/discover.ts';
import { isSuccess, jsonOf, jsonValue } from '../exchange/exchange.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { basePath } from './guard.ts';
import type { Run } from './run-state.ts';
import type { Step } from './step.ts';

const STATE_NAME = /^(?:state|status|phase)$/i;
/** States in which work goes on. */
const UNFINISHED =
  /^(?:accepted|creating|deleting|in[_ -]?progress|new|pending|processing|provisioning|queued|running|scheduled|started|updating|waiting)$/i;
/** The maximum number of reads of a resource that shows the progress of work. */
export const MAX_POLLS = 10;
const FIRST_WAIT_MS = 50;
const MAX_WAIT_MS = 5_000;

/** Whether the success of a read has a property with the state of work. */
function hasState(document: OpenApiDocument, { responses }: Operation): boolean {
  const success = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1];
  const pointer = success === undefined ? undefined : jsonOf(success)?.pointer;
  if (pointer === undefined) return false;
  return schemaNodes(document, pointer).some(({ schema }) => keysOf(schema, 'properties').some((name) => STATE_NAME.test(name)));
}

/** Sends one request of a step, and returns its response. */
type SendPoll = (step: Step, path: Match['parameters']) => Promise<Exchange | undefined>;

/** Reads the resource that shows the progress of accepted work, until the work ends. */
export async function followWork(run: Run, accepted: Exchange, send: SendPoll): Promise<void> {
  const named = namedByLocation(run, accepted);
  const last = named === undefined ? undefined : await poll(run, named, send);
  if (last !== undefined && last.status !== 404 && last.status !== 410) return;
  const identified = identifiedBy(run, accepted);
  if (identified !== undefined && JSON.stringify(identified) !== JSON.stringify(named)) await poll(run, identified, send);
}

interface PolledResource {
  readonly step: Step;
  readonly path: Match['parameters'];
}

async function poll(run: Run, { step, path }: PolledResource, send: SendPoll): Promise<Exchange | undefined> {
  let wait = FIRST_WAIT_MS;
  for (let polls = 1; ; polls++) {
    const exchange = await send(step, path);
    if (exchange === undefined || !isSuccess(exchange.status) || !isUnfinished(exchange)) return exchange;
    if (polls === MAX_POLLS || run.options.signal?.aborted === true) return exchange;
    const retry = Number(exchange.headers['retry-after']);
    await sleep(Math.min(Number.isFinite(retry) && retry > 0 ? retry * 1_000 : wait, MAX_WAIT_MS));
    wait *= 2;
  }
}

/** Whether a response shows that work goes on. */
export function isUnfinished(exchange: Exchange): boolean {
  const value = jsonValue(exchange);
  if (exchange.status === 202) return true;
  return (
    isObject(value) &&
    Object.entries(value).some(([name, state]) => STATE_NAME.test(name) && typeof state === 'string' && UNFINISHED.test(state))
  );
}

/** The read that `Location` names. */
function namedByLocation({ pollSteps, options: { target } }: Run, { headers: { location }, sent }: Exchange): PolledResource | undefined {
  if (location === undefined || !URL.canParse(location, sent.url)) return undefined;
  const { pathname } = new URL(location, sent.url);
  const path = pathname.startsWith(`${basePath(target)}/`) ? pathname.slice(basePath(target).length) : pathname;
  for (const step of pollSteps) {
    const match = createMatcher([step.operation])('GET', path);
    if (match !== undefined) return { step, path: match.parameters };
  }
  return undefined;
}

/** The read of a state whose identifier is in the response. */
function identifiedBy({ document, validator, operations, pollSteps }: Run, accepted: Exchange): PolledResource | undefined {
  for (const step of pollSteps) {
    const { operation } = step;
    if (!hasState(document, operation)) continue;
    const path = discoverCreated({ document, validator, operation, operations, exchange: accepted });
    const [name, ...others] = pathParameters(operation.path);
    const value = name === undefined || others.length > 0 ? undefined : identifierIn(document, accepted, [name]);
    if (path !== undefined) return { step, path };
    if (name !== undefined && value !== undefined) return { step, path: { [name]: value } };
  }
  return undefined;
}
