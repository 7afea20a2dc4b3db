import { NOTHING_GIVEN } from '../document/parameters.ts';
import type { PathValues } from '../exchange/discover.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { readUsable } from '../judge/usable.ts';
import { TargetError } from './contract-options.ts';
import type { ContractOptions } from './contract-options.ts';
import { createGuard } from './guard.ts';
import { NO_BUDGET } from './price.ts';
import { credentialsFor } from './run-state.ts';
import { sendRequest, NoResponseError, paceOf } from './send-request.ts';
import type { Transport } from './send-request.ts';
import { sendableOf } from './sendable.ts';
import { bodyOf, isChange, PHASES } from './step.ts';
import type { Step } from './step.ts';

/** A call of an operation that only reads. */
export interface ReadCall {
  readonly operation: string;
  readonly path: PathValues;
}

/**
 * Calls operations that only read, once each, before a run: for example, to get prices. The guard allows no other request.
 * @returns the responses of the operations that exist in the document and can be called
 * @throws {TargetError} when the target does not respond
 */
export async function sendReads(options: ContractOptions, calls: readonly ReadCall[]): Promise<readonly Exchange[]> {
  const { document, operations, validator } = readUsable(options.document);
  const steps = calls.flatMap(({ operation: id, path }): readonly Step[] => {
    const operation = operations.find((one) => one.id === id);
    const sendable =
      operation === undefined ? undefined : sendableOf({ document, operations, validator, seed: 1, given: NOTHING_GIVEN }, operation);
    if (operation === undefined || !operation.readOnly || typeof sendable !== 'object') return [];
    return [
      {
        operation,
        method: operation.method,
        purpose: 'call',
        credential: 'account',
        path: Object.keys(path).length === 0 ? 'none' : path,
        ...sendable,
        detail: 'prices',
        times: 1,
        phase: PHASES.read,
        effect: 'reads',
      },
    ];
  });
  const { target, send = fetch, timeout = 10_000, rate } = options;
  const credentials = credentialsFor(options, { steps });
  const keyOf: Transport['keyOf'] = (_, key) => credentials.keyFor(key);
  function refusal(step: Step): string | undefined {
    return isChange(step) ? 'it is not a read' : undefined;
  }
  const guard = createGuard({ steps, refusal, target, keyOf, budget: NO_BUDGET, priceOf: () => undefined, send });
  const transport = { target, send: guard.send, keyOf, timeout, pace: paceOf(rate), renew: credentials.renew };
  const exchanges: Exchange[] = [];
  for (const step of steps) {
    try {
      await transport.pace();
      exchanges.push(await sendRequest(transport, step, { path: typeof step.path === 'string' ? {} : step.path, body: bodyOf(step, {}) }));
    } catch (error) {
      if (!(error instanceof NoResponseError)) throw error;
      throw new TargetError(`${target.origin} does not respond: ${error.message}`, { cause: error.cause });
    }
  }
  return exchanges;
}
