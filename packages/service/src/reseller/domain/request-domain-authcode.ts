import * as v from 'valibot';

import { authcodeContext, beginDomainChange, domainSubject, endDomainChange, settleAndFindDomain } from '../../core/domain/domain.ts';
import type { UndoableDelivery } from '../../delivery/delivery.ts';
import { newAuthcode, seal } from '../../rules/credentials.ts';
import { deliveredCall } from '../operation.ts';
import type { Call, Success } from '../operation.ts';

const details = v.object({ name: v.string() });
type Details = v.InferOutput<typeof details>;

interface Plan {
  readonly name: string;
  readonly authcode: string;
  readonly call: Call<'requestDomainAuthcode'>;
}

export const requestAuthcode: UndoableDelivery<Call<'requestDomainAuthcode'>, Details, Plan, Success<'requestDomainAuthcode'>> = {
  name: 'requestDomainAuthcode',
  recovery: 'undo',
  details,
  subject: domainSubject,

  async reserve({ db }, call) {
    const domain = await settleAndFindDomain(db, call.runtime, call);
    const { name } = domain;
    await beginDomainChange(db, domain);
    const authcode = newAuthcode(call.runtime.ports.random);
    return { accountId: call.accountId, details: { name }, plan: { name, authcode, call } };
  },

  call: ({ registrar }, { name, authcode }, token) => registrar.setAuthcode(name, authcode, token),

  async confirm({ db }, { name, authcode, call }) {
    await endDomainChange(db, name, {
      sealed_authcode: seal(authcode, call.runtime.secret, authcodeContext(name), call.runtime.ports.random),
    });
    return { message: 'The authcode was requested.', data: { authcode } };
  },

  // The registrar may have the old or the new code, so both sides delete the code.
  compensate: ({ registrar }, { name }, token) => registrar.setAuthcode(name, null, token),
  rollBack: ({ db }, { name }) => endDomainChange(db, name, { sealed_authcode: null }),
};

/** POST /domain/{domain}/authcode: creates a new auth code and voids the previous one (our choice). */
export const requestDomainAuthcode = deliveredCall(requestAuthcode);
