import * as v from 'valibot';

import { authcodeContext, beginDomainChange, domainSubject, endDomainChange, settleAndFindDomain } from '../../core/domain/domain.ts';
import type { UndoableDelivery } from '../../delivery/delivery.ts';
import { newAuthcode, seal } from '../../rules/credentials.ts';
import { deliveredCall } from '../operation.ts';

const details = v.object({ name: v.string() });

export const authcodeRequest: UndoableDelivery<v.InferOutput<typeof details>> = {
  name: 'requestDomainAuthcode',
  details,
  subject: domainSubject,
  undo: {
    // The registrar may have the old or the new code, so both sides delete the code.
    call: ({ registrar }, { name }, token) => registrar.setAuthcode(name, null, token),
    store: ({ db }, { name }) => endDomainChange(db, name, { sealed_authcode: null }),
  },
};

/** POST /domain/{domain}/authcode: creates a new auth code and voids the previous one (our choice). */
export const requestDomainAuthcode = deliveredCall<'requestDomainAuthcode'>(async (steps, call) => {
  const { ports, secret } = call.runtime;
  const authcode = newAuthcode(ports.random);
  const {
    details: { name },
  } = await steps.reserve(authcodeRequest, async ({ db }) => {
    const domain = await settleAndFindDomain(db, call.runtime, call);
    await beginDomainChange(db, domain);
    return { accountId: call.accountId, details: { name: domain.name } };
  });
  await steps.call(({ registrar }, token) => registrar.setAuthcode(name, authcode, token));
  return steps.confirm(async ({ db }) => {
    await endDomainChange(db, name, { sealed_authcode: seal(authcode, secret, authcodeContext(name), ports.random) });
    return { message: 'The authcode was requested.', data: { authcode } };
  });
});
