/** Contacts that domains are registered to. */
export interface HandlesTable {
  id: string;
  account_id: string;
  type: string;
  gender: string;
  firstname: string;
  lastname: string;
  organisation: string | null;
  street: string;
  number: string;
  zipcode: string;
  city: string;
  region: string;
  /** Two upper-case letters. */
  countrycode: string;
  email: string;
  /** Like `+49.6955501234`. */
  phone: string | null;
  fax: string | null;
  /** Milliseconds. */
  created: number;
}
