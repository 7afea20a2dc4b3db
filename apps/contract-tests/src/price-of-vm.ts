import { joinPointer, readOperations, valueAt, type OpenApiDocument } from '@reseller/contract';
import { moneyOf, worthOf, type Money, type Price } from '@reseller/contract/engine';

/** What a sale prices, by the field of the form that asks for it: how many units of the field one price is for. */
const SOLD = { core: ['cores', 1n], mem: ['mem', 1024n], nvme: ['disk', 1n] } as const;

/**
 * The most that a VM costs in 30 days. The API answers no list prices of host systems, but those of sales: where an active one with volume
 * left prices all that the form asks for, the VM costs that or less (the document: a sale is taken only where it makes a VM cheaper).
 * @param form fields of `PUT /vm/create`
 * @param sales what `GET /accounting/sales` answers as data
 * @returns undefined where no sale prices all of it
 */
export function priceOfVm(form: Readonly<Record<string, unknown>>, sales: unknown, document: OpenApiDocument): Price | undefined {
  if (!isList(sales) || asksForExtras(form, document)) return undefined;
  const prices = sales
    .filter(isActive)
    .map((sale) => priceIn(sale, form))
    .filter((price) => price !== undefined);
  return prices.toSorted((one, other) => (worthOf(one) < worthOf(other) ? -1 : 1))[0];
}

function priceIn(sale: unknown, form: Readonly<Record<string, unknown>>): Price | undefined {
  const resources = valueIn(sale, 'pricings', 'value', String(form['hostsystem']));
  const sum = (kind: 'price_net' | 'price_gross'): Money | undefined => {
    let total = 0n;
    for (const [resource, [field, unit]] of Object.entries(SOLD)) {
      const price = moneyOf(valueIn(resources, resource, kind));
      const amount = form[field];
      if (price === undefined || typeof amount !== 'number' || !Number.isSafeInteger(amount) || amount < 0) return undefined;
      // Rounded up: what is named here is never less than what is charged.
      total += (price * BigInt(amount) + unit - 1n) / unit;
    }
    return total;
  };
  const net = sum('price_net');
  return net === undefined
    ? undefined
    : {
        net,
        gross: sum('price_gross'),
        basis: `at most, for each 30 days that it runs, by the sale "${textAt(sale, 'title')}" of listSales`,
      };
}

/** Whether a VM that is made now is made in the sale, by the clock of this machine. */
function isActive(sale: unknown): boolean {
  const [start, stop] = [valueIn(sale, 'startDate', 'value'), valueIn(sale, 'stopDate', 'value')];
  const [used, most] = [valueIn(sale, 'usedVolume', 'value'), valueIn(sale, 'maxVolume', 'value')];
  const now = Date.now();
  const isBegun = typeof start === 'string' && Date.parse(start) <= now;
  const isOver = stop !== null && !(typeof stop === 'string' && Date.parse(stop) > now);
  return isBegun && !isOver && typeof used === 'number' && typeof most === 'number' && used < most;
}

/** Whether a form asks for more of anything countable than the document's default, which no sale prices. */
function asksForExtras(form: Readonly<Record<string, unknown>>, document: OpenApiDocument): boolean {
  const fields = readOperations(document).find(({ id }) => id === 'createVm')?.form?.fields;
  const sold: ReadonlySet<string> = new Set(Object.values(SOLD).map(([field]) => field));
  return Object.entries(form).some(([name, value]) => {
    const field = fields?.get(name);
    if (field?.kind !== 'integer' || sold.has(name)) return false;
    const usual = valueAt(document, joinPointer(field.pointer, 'default')) ?? 0;
    return typeof value !== 'number' || typeof usual !== 'number' || value > usual;
  });
}

/** What stands at a path of names in a value that nobody has looked at; undefined where nothing does. */
export function valueIn(value: unknown, ...names: readonly string[]): unknown {
  return names.reduce<unknown>((at, name) => (isRecord(at) && Object.hasOwn(at, name) ? at[name] : undefined), value);
}

/** A text or number that stands there, for people. */
export function textAt(value: unknown, ...names: readonly string[]): string {
  const found = valueIn(value, ...names);
  return typeof found === 'string' || typeof found === 'number' ? String(found) : '?';
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}
