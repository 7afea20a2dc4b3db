import { isProbe, sendReads } from '@reseller/contract/engine';
import type { ContractOptions, Plan, PriceOf, Step } from '@reseller/contract/engine';
import { priceOf, priceReads, readKey, serviceTime } from '@reseller/prices';

import { CannotRunError } from './cannot-run.ts';

/** Reads the prices of the purchases of a plan from the target. Sends no requests when nothing costs money. */
export async function readPrices(options: ContractOptions, { steps }: Plan): Promise<PriceOf> {
  // The price of an invalid request that the service accepts is unknown.
  const costly = steps.filter((step) => step.effect === 'costs' && !isProbe(step));
  const reads = new Map(
    costly.flatMap((step) => priceReads({ operation: step.operation.id, path: namedIn(step) })).map((read) => [readKey(read), read]),
  );
  const data = new Map<string, unknown>();
  let now = Date.now();
  for (const [key, read] of reads) {
    const [exchange] = await sendReads(options, [read]);
    if (exchange?.status === 401 || exchange?.status === 403)
      throw new CannotRunError(`${options.target.href} refuses the API key. Check CONTRACT_API_KEY.`);
    if (exchange?.status !== 200 || exchange.body.kind !== 'json') continue;
    data.set(key, Object(exchange.body.value).data);
    now = serviceTime(exchange.headers['date']);
  }
  return (step) =>
    isProbe(step)
      ? undefined
      : priceOf({ operation: step.operation.id, path: namedIn(step), form: step.form?.values ?? {} }, data, options.document, now);
}

/** The path parameters of a step, as far as they were named. */
function namedIn({ path }: Step): Readonly<Record<string, string>> {
  return typeof path === 'string' ? {} : path;
}
