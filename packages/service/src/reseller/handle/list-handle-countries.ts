import { allCountries } from '../../rules/contact.ts';
import type { ReadOperation } from '../operation.ts';

/** GET /domain/handle/countries: the countries that a handle can be in. */
export const listHandleCountries: ReadOperation<'listHandleCountries'> = {
  kind: 'read',
  settles: false,
  run: async () => ({ message: 'The countries were listed.', data: [...allCountries] }),
};
