import type { Contact } from '@reseller/adapters';

import { handlesOfDomain } from '../../core/domain/domain.ts';
import { contactDetails, contactOf, findHandle } from '../../core/domain/handle.ts';
import { invalid } from '../../rules/refusal.ts';
import { deliveredCall } from '../operation.ts';
import { readHandle } from './register-domain-form.ts';
import { registrarChange } from './registrar-change.ts';

export const handleChange = registrarChange<'setDomainHandle', Contact>({
  name: 'setDomainHandle',
  value: contactDetails,
  async wanted(db, { accountId, form }, { tld }) {
    const { handle, broken } = await readHandle(db, accountId, form.handle, tld);
    if (!handle || broken.length > 0) throw invalid(broken);
    return contactOf(handle);
  },
  async before(db, { name, account_id, handle: id }) {
    const handle = await findHandle(db, account_id, id);
    if (!handle) throw new Error(`The domain ${name} has the handle ${id}, which its account does not have.`);
    return contactOf(handle);
  },
  set: (registrar, name, contact, token) => registrar.setContact(name, contact, token),
  columnsOf: ({ handle }) => ({ handle }),
  success: ({ handle }) => ({ message: 'The contact was changed.', data: handlesOfDomain(handle) }),
});

/** POST /domain/{domain}/handle: replaces the contact of a domain. */
export const setDomainHandle = deliveredCall(handleChange.carryOut);
