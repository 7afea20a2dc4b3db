import { invalid } from '../../../refusal.ts';
import { listOfNameservers, readNameservers } from '../../../rules/nameserver.ts';
import type { DeliveredOperation } from '../../operation.ts';
import { domainSubject } from '../../turns.ts';
import { beginChange, endChange, findDomain, nameserversOf } from '../domain.ts';

/** POST /domain/{domain}/nameserver: replaces the nameservers of a domain. */
export const setDomainNameservers: DeliveredOperation<'setDomainNameservers'> = {
  kind: 'delivered',
  begin(call) {
    const { registrar } = call.ports;
    const { nameservers, broken } = readNameservers(call.form, registrar.standardNameservers);
    let name: string;
    return {
      async reserve({ db }) {
        const row = await findDomain(db, call);
        if (broken.length > 0) throw invalid(broken);
        name = row.name;
        await beginChange(db, name);
        return { name, before: listOfNameservers(nameserversOf(row)).join(' ') };
      },
      deliver: (turn) => registrar.setNameservers(name, listOfNameservers(nameservers), turn),
      async confirm({ db }) {
        const { ns1, ns2, ...others } = nameservers;
        if (ns1 === null || ns2 === null) throw new Error('The form of the nameservers must need ns1 and ns2.');
        await endChange(db, name, { ns1, ns2, ...others });
        return { message: 'The nameservers were changed. The change applies within seconds.', data: nameservers };
      },
    };
  },
  subject: domainSubject,
  withdraw: ({ registrar }, { name, before }, { turn }) => registrar.setNameservers(String(name), String(before).split(' '), turn),
  release: ({ db }, details) => endChange(db, String(details['name'])),
};
