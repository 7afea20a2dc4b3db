import { assertHandleQuota } from '../../core/account/quota.ts';
import { newHandleId } from '../../core/domain/handle.ts';
import type { BrokenField } from '../../rules/broken-field.ts';
import { countryOf, phoneOf } from '../../rules/contact.ts';
import { invalid } from '../../rules/refusal.ts';
import { lockAccount } from '../../store/account-lock.ts';
import type { StoreOperation } from '../operation.ts';

/** PUT /domain/handle/create: a contact that domains can be registered to. */
export const createHandle: StoreOperation<'createHandle'> = {
  kind: 'store',
  async run({ db }, { accountId, form, now, runtime: { ports } }) {
    const broken: BrokenField[] = [];
    const country = countryOf(form.countrycode);
    if (!country) {
      broken.push({
        field: 'countrycode',
        rule: 'exists',
        message: 'must be the code of a country that GET /domain/handle/countries lists',
      });
    }
    const phone = form.phone === undefined ? null : phoneOf(form.phone, country?.code ?? '');
    if (phone === undefined) {
      broken.push({
        field: 'phone',
        rule: 'phone',
        message: 'must be a valid phone number of its country, such as +49.6955501234',
      });
    }
    if (!country || phone === undefined) throw invalid(broken);
    await lockAccount(db, accountId);
    await assertHandleQuota(db, accountId);
    const id = newHandleId(ports.random);
    await db
      .insertInto('handles')
      .values({
        id,
        account_id: accountId,
        type: 'PERS',
        gender: form.gender,
        firstname: form.firstname,
        lastname: form.lastname,
        organisation: null,
        street: form.street,
        number: form.number,
        zipcode: form.zipcode,
        city: form.city,
        region: form.region,
        countrycode: country.code,
        email: form.email,
        phone,
        fax: null,
        created: now,
      })
      .execute();
    return { message: 'The handle was created.', data: { handle: id } };
  },
};
