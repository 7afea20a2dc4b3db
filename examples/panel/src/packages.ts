/** The packages that the company sells. */
export interface Package {
  readonly resources: { readonly cores: number; readonly mem: number; readonly disk: number };
  /** The highest net price of 30 days at which the company buys it, in EUR. A higher price is refused, and nothing is bought. */
  readonly maxPrice: string;
}

const PACKAGES: Readonly<Record<string, Package>> = {
  small: { resources: { cores: 1, mem: 2048, disk: 20 }, maxPrice: '5.20' },
  medium: { resources: { cores: 2, mem: 4096, disk: 40 }, maxPrice: '10.40' },
  large: { resources: { cores: 4, mem: 8192, disk: 80 }, maxPrice: '20.80' },
};

/** @throws Error if the company does not sell it. */
export function packageNamed(name: string): Package {
  const found = Object.hasOwn(PACKAGES, name) ? PACKAGES[name] : undefined;
  if (!found) throw new Error(`The package ${name} does not exist. Choose ${Object.keys(PACKAGES).join(', ')}.`);
  return found;
}
