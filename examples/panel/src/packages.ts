/** The offers of the company, and the highest net prices at which it buys. A higher price is refused, and nothing is bought. */
export interface Package {
  readonly resources: { readonly cores: number; readonly mem: number; readonly disk: number };
  /** Cents for 30 days, with one address. */
  readonly maxCents: number;
}

const PACKAGES: Readonly<Record<string, Package>> = {
  small: { resources: { cores: 1, mem: 2048, disk: 20 }, maxCents: 5_20 },
  medium: { resources: { cores: 2, mem: 4096, disk: 40 }, maxCents: 10_40 },
  large: { resources: { cores: 4, mem: 8192, disk: 80 }, maxCents: 20_80 },
};

/** Cents for 30 days of an address beyond the first. */
const MAX_ADDRESS_CENTS = 1_50;

/** Cents for a year, by TLD. */
const MAX_DOMAIN_CENTS: Readonly<Record<string, number>> = { com: 12_00, de: 5_00, net: 12_00 };

/** @throws Error if the company does not sell it. */
export function packageNamed(name: string): Package {
  return soldAs(PACKAGES, name, 'package');
}

/** The price guard of a server: EUR for 30 days. */
export function maxServerPrice(packageName: string, addresses: number): string {
  return euros(packageNamed(packageName).maxCents + (addresses - 1) * MAX_ADDRESS_CENTS);
}

/**
 * The price guard of a domain: EUR for a year.
 *
 * @throws Error if the company does not sell its TLD.
 */
export function maxDomainPrice(domain: string): string {
  return euros(soldAs(MAX_DOMAIN_CENTS, domain.slice(domain.indexOf('.') + 1), 'TLD'));
}

function soldAs<Sold>(list: Readonly<Record<string, Sold>>, name: string, kind: string): Sold {
  const found = Object.hasOwn(list, name) ? list[name] : undefined;
  if (found === undefined) throw new Error(`The ${kind} ${name} does not exist. Choose ${Object.keys(list).join(', ')}.`);
  return found;
}

function euros(cents: number): string {
  return (cents / 100).toFixed(2);
}
