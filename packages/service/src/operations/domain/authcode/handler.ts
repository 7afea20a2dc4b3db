import { newAuthcode, seal } from '../../../rules/credentials.ts';
import type { DeliveredOperation } from '../../operation.ts';
import { domainSubject } from '../../turns.ts';
import { authcodeContext, beginChange, endChange, findDomain } from '../domain.ts';

/** POST /domain/{domain}/authcode: makes a new authcode, which voids the one before (our choice). */
export const requestDomainAuthcode: DeliveredOperation<'requestDomainAuthcode'> = {
  kind: 'delivered',
  begin(call) {
    const { random, registrar } = call.ports;
    const authcode = newAuthcode(random);
    let name: string;
    return {
      async reserve({ db }) {
        ({ name } = await findDomain(db, call));
        await beginChange(db, name);
        return { name };
      },
      deliver: (turn) => registrar.setAuthcode(name, authcode, turn),
      async confirm({ db }) {
        await endChange(db, name, { sealed_authcode: seal(authcode, call.secret, authcodeContext(name), random) });
        return { message: 'The authcode was requested.', data: { authcode } };
      },
    };
  },
  subject: domainSubject,
  // Nobody knows which code the registrar has then, so that the domain is to have none on either side.
  withdraw: ({ registrar }, { name }, { turn }) => registrar.setAuthcode(String(name), null, turn),
  release: ({ db }, details) => endChange(db, String(details['name']), { sealed_authcode: null }),
};
