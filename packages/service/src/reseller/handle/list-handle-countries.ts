import { allCountries } from '../../rules/contact.ts';
import type { StoreOperation } from '../operation.ts';

/** GET /domain/handle/countries: the countries that a handle can be in. */
export const listHandleCountries: StoreOperation<'listHandleCountries'> = {
  kind: 'store',
  run: async () => ({ message: 'The countries were listed.', data: [...allCountries] }),
};
