import { Refusal } from '../../../refusal.ts';
import { withdrawCancellation } from '../../../rules/domain-registration.ts';
import type { DeliveredOperation } from '../../operation.ts';
import { domainSubject } from '../../turns.ts';
import { beginChange, endChange, findDomain, registrationOf } from '../domain.ts';

/** POST /domain/{domain}/undelete: withdraws a cancellation; the next renewal is charged again, and nothing before it. */
export const undeleteDomain: DeliveredOperation<'undeleteDomain'> = {
  kind: 'delivered',
  begin(call) {
    const { registrar } = call.ports;
    let name: string;
    return {
      async reserve({ db }) {
        const row = await findDomain(db, call);
        name = row.name;
        const transition = withdrawCancellation(registrationOf(row), Math.floor(call.now / 1000));
        if ('refused' in transition) throw refusalOf(name, transition.refused);
        await beginChange(db, name);
        return { name };
      },
      deliver: (turn) => registrar.setRenewal(name, true, turn),
      async confirm({ db }) {
        await endChange(db, name, { terminated: 0 });
        return { message: 'The cancellation was withdrawn and the domain is renewed again.', data: { domain: name } };
      },
    };
  },
  subject: domainSubject,
  withdraw: ({ registrar }, { name }, { turn }) => registrar.setRenewal(String(name), false, turn),
  release: ({ db }, details) => endChange(db, String(details['name'])),
};

function refusalOf(name: string, refused: string): Refusal {
  const message =
    refused === 'not cancelled'
      ? `The domain ${name} is not cancelled, so there is no cancellation to withdraw. Nothing is needed: it is renewed.`
      : `The domain ${name} has expired. Send the request again in a minute, and register it anew if it is gone then.`;
  return new Refusal(409, 'wrong_state', message);
}
