import { Address4, Address6 } from 'ip-address';
import { sql } from 'kysely';
import type { Expression, ExpressionBuilder, SqlBool } from 'kysely';

import type { Schema } from '../store/schema.ts';
import type { QueryOf } from './operation.ts';
import { OperatorProblem } from './problem.ts';

type Accounts = ExpressionBuilder<Schema, 'accounts'>;

/**
 * The condition for accounts that have all resources that the query names.
 *
 * @throws OperatorProblem 400 if the address is not one.
 */
export function hasResources(eb: Accounts, { vm, domain, address, handle }: QueryOf<'listAccounts'>): Expression<SqlBool> {
  const conditions: Expression<SqlBool>[] = [];
  function isOneOf(owners: Expression<{ account_id: string }>) {
    return conditions.push(sql<SqlBool>`${eb.ref('accounts.id')} in ${owners}`);
  }
  if (vm !== undefined) isOneOf(eb.selectFrom('vms').select('account_id').where('id', '=', Number(vm)));
  if (domain !== undefined) isOneOf(eb.selectFrom('domains').select('account_id').where('name', '=', domain.toLowerCase()));
  if (handle !== undefined) isOneOf(eb.selectFrom('handles').select('account_id').where('id', '=', handle));
  if (address !== undefined) isOneOf(ownersOfAddress(eb, storedAddressesOf(address)));
  return eb.and(conditions);
}

function ownersOfAddress(eb: Accounts, texts: readonly string[]) {
  return eb
    .selectFrom('ip_addresses')
    .innerJoin('vms', 'vms.id', 'ip_addresses.vm_id')
    .select('vms.account_id')
    .where('ip_addresses.address', 'in', texts)
    .unionAll(
      eb
        .selectFrom('dedicated_addresses')
        .innerJoin('dedicated_servers', 'dedicated_servers.id', 'dedicated_addresses.server_id')
        .select('dedicated_servers.account_id')
        .where('dedicated_addresses.address', 'in', texts)
        // Offers on the market have addresses but no account.
        .where('dedicated_servers.account_id', 'is not', null)
        .$narrowType<{ account_id: string }>(),
    );
}

/** The texts that the store may have for an address: an IPv4 address as it is, an IPv6 address as a network of any length. */
function storedAddressesOf(address: string): readonly string[] {
  if (Address4.isValid(address)) return [new Address4(address).correctForm()];
  if (!Address6.isValid(address)) {
    throw new OperatorProblem('malformed-request', 'The query parameter address must be an IPv4 or IPv6 address, such as 203.0.113.18.');
  }
  const value = new Address6(address).bigInt();
  return Array.from({ length: 129 }, (_, prefix) => {
    const hostBits = BigInt(128 - prefix);
    return `${Address6.fromBigInt((value >> hostBits) << hostBits).correctForm()}/${prefix}`;
  });
}
