/** Nameservers of a domain (specification: "POST /domain/{domain}/nameserver form"). */
import type { DomainNameservers } from '@reseller/client';

import type { BrokenField } from './broken-field.ts';
import { asciiNameOf, NOT_A_DOMAIN } from './domain-name.ts';

export const NAMESERVER_FIELDS = ['ns1', 'ns2', 'ns3', 'ns4', 'ns5'] as const;

/** The nameservers in a form. */
export type WantedNameservers = { readonly [Field in keyof DomainNameservers]?: string };

/** The nameservers in a form, and every rule that it breaks. Use the nameservers only if no rule is broken. */
export interface NameserverReading {
  readonly nameservers: DomainNameservers;
  readonly broken: readonly BrokenField[];
}

/**
 * Reads the nameservers of a form. `default` is the standard nameserver of the same number.
 *
 * @param standard The provider's nameservers, in their order.
 */
export function readNameservers(wanted: WantedNameservers, standard: readonly string[]): NameserverReading {
  const nameservers: DomainNameservers = { ns1: null, ns2: null, ns3: null, ns4: null, ns5: null };
  const broken: BrokenField[] = [];
  for (const [index, field] of NAMESERVER_FIELDS.entries()) {
    const text = wanted[field];
    if (text === undefined) continue;
    const name = text === 'default' ? standard[index] : asciiNameOf(text);
    const twin = NAMESERVER_FIELDS.find((other) => nameservers[other] === name);
    if (name === undefined) broken.push({ field, ...wrongName(text, index + 1) });
    else if (twin !== undefined) broken.push({ field, rule: 'distinct', message: `must not name the same nameserver as ${twin}` });
    else nameservers[field] = name;
  }
  return { nameservers, broken };
}

function wrongName(text: string, number: number): Omit<BrokenField, 'field'> {
  return text === 'default'
    ? { rule: 'exists', message: `must be the domain of a nameserver: there is no standard nameserver number ${number}` }
    : { rule: 'domain', message: NOT_A_DOMAIN };
}

/** The nameservers that are set, in order. */
export function listOfNameservers(nameservers: DomainNameservers): string[] {
  return NAMESERVER_FIELDS.flatMap((field) => nameservers[field] ?? []);
}

/** Nameservers by their fields. */
export function namedNameservers([ns1, ns2, ns3, ns4, ns5]: readonly string[]): DomainNameservers {
  return { ns1: ns1 ?? null, ns2: ns2 ?? null, ns3: ns3 ?? null, ns4: ns4 ?? null, ns5: ns5 ?? null };
}

/** The default: the first two nameservers of the provider. */
export const STANDARD_NAMESERVERS: WantedNameservers = { ns1: 'default', ns2: 'default' };
