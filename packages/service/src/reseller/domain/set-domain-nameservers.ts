import * as v from 'valibot';

import { delegationChange } from '../../core/domain/dnssec.ts';
import { nameserversOf } from '../../core/domain/domain.ts';
import { listOfNameservers, namedNameservers, readNameservers } from '../../rules/nameserver.ts';
import { invalid } from '../../rules/refusal.ts';
import { deliveredCall } from '../operation.ts';
import { registrarChange } from './registrar-change.ts';

export const nameserverChange = registrarChange<'setDomainNameservers', string[]>({
  name: 'setDomainNameservers',
  value: v.array(v.string()),
  wanted(_db, { form, runtime }) {
    const { nameservers, broken } = readNameservers(form, runtime.ports.registrar.standardNameservers);
    if (broken.length > 0) throw invalid(broken);
    return listOfNameservers(nameservers);
  },
  begun: (nameservers, { runtime, now }, domain) => delegationChange(domain, nameservers, { ports: runtime.ports, now }),
  before: (_db, domain) => listOfNameservers(nameserversOf(domain)),
  set: (registrar, name, nameservers, token) => registrar.setNameservers(name, nameservers, token),
  columnsOf(nameservers) {
    const { ns1, ns2, ...others } = namedNameservers(nameservers);
    if (ns1 === null || ns2 === null) throw new Error('The form of the nameservers must require ns1 and ns2.');
    return { ns1, ns2, ...others };
  },
  success: (nameservers) => ({
    message: 'The nameservers were changed. The change applies within seconds.',
    data: namedNameservers(nameservers),
  }),
});

/** POST /domain/{domain}/nameserver: replaces the nameservers of a domain. */
export const setDomainNameservers = deliveredCall(nameserverChange.carryOut);
