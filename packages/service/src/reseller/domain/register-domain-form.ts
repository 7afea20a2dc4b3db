import type { RegisterDomainForm } from '@reseller/client/extension';
import type { Selectable } from 'kysely';

import { tldPricesAt } from '../../core/catalogue/tld-price.ts';
import { findHandle } from '../../core/domain/handle.ts';
import type { BrokenField } from '../../rules/broken-field.ts';
import { asciiNameOf, NOT_A_DOMAIN, splitName, suffixesOf } from '../../rules/domain-name.ts';
import type { RegistrableName, UnregistrableName } from '../../rules/domain-name.ts';
import { readNameservers, STANDARD_NAMESERVERS } from '../../rules/nameserver.ts';
import type { NameserverReading } from '../../rules/nameserver.ts';
import { invalid } from '../../rules/refusal.ts';
import type { Db } from '../../store/store.ts';
import type { TldPricesTable } from '../../store/tables/catalogue.ts';
import type { HandlesTable } from '../../store/tables/domains.ts';
import type { Call } from '../operation.ts';

type RegisterCall = Pick<Call<'registerDomain'>, 'form' | 'accountId' | 'now'>;

/** The requested registration. */
export interface RegistrationRequest extends RegistrableName {
  readonly prices: Selectable<TldPricesTable>;
  readonly handle: Selectable<HandlesTable>;
  readonly nameservers: NameserverReading['nameservers'];
}

/**
 * Checks the form of POST /domain/register against the account's handles and the price list.
 *
 * @param standard The provider's nameservers.
 * @throws Refusal 422 with every broken rule.
 */
export async function readForm(db: Db, { form, accountId, now }: RegisterCall, standard: readonly string[]): Promise<RegistrationRequest> {
  const broken: BrokenField[] = [];
  const split = await readName(db, form.domain, now);
  if ('rule' in split) broken.push({ field: 'domain', ...split });
  const { handle, broken: brokenHandle } = await readHandle(db, accountId, form.handle, 'name' in split ? split.tld : undefined);
  const { nameservers, broken: brokenNameservers } = wantedNameservers(form, standard);
  broken.push(...brokenHandle, ...brokenNameservers);
  if (broken.length > 0 || 'rule' in split || !handle) throw invalid(broken);
  return { ...split, handle, nameservers };
}

/** The account's handle for a domain, and the rule that it breaks. @param tld Of the domain, if it is known. */
export async function readHandle(
  db: Db,
  accountId: string,
  id: string,
  tld: string | undefined,
): Promise<{ readonly handle: Selectable<HandlesTable> | undefined; readonly broken: readonly BrokenField[] }> {
  const handle = await findHandle(db, accountId, id);
  if (!handle) {
    const message = `must be the ID of a handle of this account; ${id} is not one`;
    return { handle, broken: [{ field: 'handle', rule: 'exists', message }] };
  }
  if (handle.phone !== null || tld !== 'de') return { handle, broken: [] };
  const message = `must name a handle with a phone number when the domain is a .de domain; ${id} has none`;
  return { handle, broken: [{ field: 'handle', rule: 'phone', message }] };
}

/**
 * The parts of a name that can be registered, with the prices of its TLD at an instant (milliseconds), or the rule that the name breaks.
 */
export async function readName(
  db: Db,
  text: string,
  now: number,
): Promise<(RegistrableName & Pick<RegistrationRequest, 'prices'>) | UnregistrableName> {
  const name = asciiNameOf(text);
  if (name === undefined) return { rule: 'domain', message: NOT_A_DOMAIN };
  const rows = await tldPricesAt(db, now).where('price.tld', 'in', suffixesOf(name)).execute();
  const split = splitName(name, new Set(rows.map(({ tld }) => tld)));
  const prices = 'rule' in split ? undefined : rows.find(({ tld }) => tld === split.tld);
  if ('rule' in split || !prices)
    return 'rule' in split ? split : { rule: 'tld', message: 'must end in a TLD that GET /domain/pricings lists' };
  return { ...split, prices };
}

function wantedNameservers({ ns1, ns2 }: RegisterDomainForm, standard: readonly string[]): NameserverReading {
  if (ns1 === undefined && ns2 === undefined) return readNameservers(STANDARD_NAMESERVERS, standard);
  return readNameservers({ ...(ns1 && { ns1 }), ...(ns2 && { ns2 }) }, standard);
}
