import { describeStep, isProbe, showMoney, worthOf } from '@reseller/contract/engine';
import type { Budget, Plan, Price, PriceOf, Step } from '@reseller/contract/engine';

import { CannotRunError } from '../cannot-run.ts';
import type { Arguments } from '../options.ts';

/** The announced changes of a full run, and its budget. */
export interface Confirmation {
  readonly text: string;
  readonly budget: Budget;
}

/**
 * Lists the changes and the costs of a full run, and checks that the arguments allow them.
 * @throws {CannotRunError} when they do not; the message lists the changes and the missing arguments
 */
export function confirmChanges(
  args: Pick<Arguments, 'yes' | 'budget' | 'unknownPrices'>,
  { plan, hasCosts }: { readonly plan: Plan; /** Whether the document says what costs money. */ readonly hasCosts: boolean },
  priceOf: PriceOf,
): Confirmation {
  const { steps } = plan;
  const costs = steps.filter((step) => step.effect === 'costs' && !isProbe(step));
  const invalidPurchases = steps.filter((step) => step.effect === 'costs' && isProbe(step));
  const changes = steps.filter(({ effect }) => effect === 'changes');
  const prices = costs.flatMap((step) => Array.from({ length: step.times }, () => priceOf(step)));
  const known = prices.filter((price) => price !== undefined);
  const needed: Budget = { amount: known.reduce((sum, price) => sum + worthOf(price), 0n), unknown: prices.length - known.length };
  const money = hasCosts ? `${timesOf(costs)} that cost money` : 'whose costs are unknown, because the document marks none with x-billable';
  const text = [
    `This run changes the account: up to ${timesOf(changes)} requests that change something, ${money}.`,
    ...costs.flatMap((step) => [`  COSTS    ${describeStep(step)}`, `           ${priceText(priceOf(step))}`]),
    ...changeLines(plan),
    ...(changes.length > 0 ? ['  --plan lists every request.'] : []),
    ...(costs.length > 0 ? [`  In total ${totalText(known, needed.unknown)}.`] : []),
    ...invalidPurchaseText(invalidPurchases, args.unknownPrices - needed.unknown),
  ].join('\n');
  const missing = missingArguments(args, needed);
  if (args.budget !== undefined && needed.amount > args.budget)
    throw new CannotRunError(
      `${text}\nThe budget of ${showMoney(args.budget)} is too small: the purchases cost ${showMoney(needed.amount)}. Nothing was changed or bought. To do it: ${missing.join(' ')}`,
    );
  if (missing.length > 0 && steps.some(({ effect }) => effect !== 'reads'))
    throw new CannotRunError(`${text}\nNothing was changed or bought. To do this, add ${missing.join(' ')}`);
  return { text, budget: { amount: args.budget ?? 0n, unknown: args.unknownPrices } };
}

/** Each operation that changes something, with the number of its requests and why the run may send them. */
export function changeLines({ steps, allowed }: Plan): readonly string[] {
  const changing = Map.groupBy(
    steps.filter(({ effect }) => effect !== 'reads'),
    ({ method, operation }) => `${method} ${operation.path}`,
  );
  return [...changing].flatMap(([request, all]) => {
    const [first] = all;
    if (first === undefined) return [];
    const { id, method } = first.operation;
    const isDescribed = first.method === method;
    const isLeftover = all.every(({ undoes }) => undoes !== undefined);
    const why =
      (isDescribed ? allowed.get(id) : undefined) ??
      (isLeftover ? 'an earlier run left it behind' : 'it is sent only for what the run made');
    return [`  changes  ${request}  (${isDescribed ? id : 'an undescribed method'}, up to ${timesOf(all)}): ${why}`];
  });
}

function missingArguments(
  { yes, budget, unknownPrices }: Pick<Arguments, 'yes' | 'budget' | 'unknownPrices'>,
  needed: Budget,
): readonly string[] {
  return [
    ...(needed.amount > (budget ?? 0n) ? [`--budget ${showMoney(needed.amount)}`] : []),
    ...(needed.unknown > unknownPrices ? [`--allow-unknown-price ${needed.unknown}`] : []),
    ...(yes ? [] : ['--yes']),
  ];
}

function timesOf(steps: readonly Step[]): number {
  return steps.reduce((sum, { times }) => sum + times, 0);
}

function priceText(price: Price | undefined): string {
  if (price === undefined) return 'unknown price: no response of the API states it';
  return `${amounts([price])}: ${price.basis}`;
}

function amounts(prices: readonly Price[]): string {
  const net = `${showMoney(prices.reduce((sum, price) => sum + price.net, 0n))} net`;
  return prices.every(({ gross }) => gross === undefined)
    ? net
    : `${net}, ${showMoney(prices.reduce((sum, price) => sum + (price.gross ?? price.net), 0n))} gross`;
}

function totalText(known: readonly Price[], unknown: number): string {
  const purchases = unknown === 0 ? '' : `${unknown} ${unknown === 1 ? 'purchase' : 'purchases'} of unknown price`;
  return [known.length === 0 && unknown > 0 ? '' : amounts(known), purchases].filter((part) => part !== '').join(' and ');
}

function invalidPurchaseText(invalidPurchases: readonly Step[], room: number): readonly string[] {
  if (invalidPurchases.length === 0) return [];
  const what = `  ${invalidPurchases.length} purchases with invalid forms, which the service must refuse. If it accepts one, the price is unknown.`;
  return [
    room > 0
      ? `${what} At most ${room} of them may succeed.`
      : `${what} They are not sent. To send them, set --allow-unknown-price to more than the number of other purchases of unknown price.`,
  ];
}
