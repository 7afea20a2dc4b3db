import { setTimeout as sleep } from 'node:timers/promises';

import type { OpenApiDocument } from '../document/document.ts';
import { isObject } from '../document/json.ts';
import { createMatcher } from '../document/match.ts';
import type { Match } from '../document/match.ts';
import { pathParameters } from '../document/path-template.ts';
import { keysOf, schemaNodes } from '../document/schema.ts';
import { discoverCreated, identifierIn } from '../exchange/discover.ts';
import { isSuccess, jsonValue } from '../exchange/exchange.ts';
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

/** The properties of a response that show the state of work. */
export function stateNames(document: OpenApiDocument, pointer: string): readonly string[] {
  return [...new Set(schemaNodes(document, pointer).flatMap(({ schema }) => keysOf(schema, 'properties')))].filter((name) =>
    STATE_NAME.test(name),
  );
}

/**
 * Reads the resource that shows the progress of accepted work, until the work ends.
 * @param send sends one request of a step, and returns its response
 */
export async function followWork(
  run: Run,
  accepted: Exchange,
  steps: readonly Step[],
  send: (step: Step, path: Match['parameters']) => Promise<Exchange | undefined>,
): Promise<void> {
  const target = progressOf(run, accepted, steps);
  if (target === undefined) return;
  let wait = FIRST_WAIT_MS;
  for (let poll = 0; poll < MAX_POLLS; poll++) {
    const exchange = await send(target.step, target.path);
    if (exchange === undefined || !isSuccess(exchange.status) || !isUnfinished(exchange)) return;
    const retry = Number(exchange.headers['retry-after']);
    if (run.options.signal?.aborted === true) return;
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

/** The read that `Location` names, else one whose identifier is in the response. */
function progressOf(
  { document, validator, operations, options: { target } }: Run,
  accepted: Exchange,
  steps: readonly Step[],
): { readonly step: Step; readonly path: Match['parameters'] } | undefined {
  const location = accepted.headers['location'];
  if (location !== undefined && URL.canParse(location, accepted.sent.url)) {
    const url = new URL(location, accepted.sent.url);
    const path = url.pathname.startsWith(`${basePath(target)}/`) ? url.pathname.slice(basePath(target).length) : url.pathname;
    for (const step of steps) {
      const match = createMatcher([step.operation])('GET', path);
      if (match !== undefined) return { step, path: match.parameters };
    }
  }
  for (const step of steps) {
    const { operation } = step;
    const path = discoverCreated({ document, validator, operation, operations, exchange: accepted });
    const [name, ...others] = pathParameters(operation.path);
    const value = name === undefined || others.length > 0 ? undefined : identifierIn(document, accepted, [name]);
    if (path !== undefined) return { step, path };
    if (name !== undefined && value !== undefined) return { step, path: { [name]: value } };
  }
  return undefined;
}
