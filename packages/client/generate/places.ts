import type { Operations } from '../src/generated/operations.gen.ts';

/** Where `createReseller` offers each operation of the document: one line for each. */
const places = {
  vm: {
    create: 'createVm',
    reinstall: 'reinstallVm',
    hosts: 'listVmHosts',
  },
  dedicated: {
    list: 'listDedicatedServers',
    available: 'listDedicatedMarket',
    info: 'getDedicatedServer',
    delete: 'deleteDedicatedServer',
    undelete: 'undeleteDedicatedServer',
  },
  domain: {
    list: 'listDomains',
    pricings: 'getDomainPricings',
    register: 'registerDomain',
    info: 'getDomain',
    setNameservers: 'setDomainNameservers',
    authcode: 'requestDomainAuthcode',
    undelete: 'undeleteDomain',
    editDns: 'editDomainDns',
    handle: {
      create: 'createHandle',
      countries: 'listHandleCountries',
      info: 'getHandle',
    },
  },
  accounting: {
    sales: 'listSales',
    invoices: 'listInvoices',
    currentInvoice: 'getCurrentInvoice',
    invoice: 'getInvoice',
  },
  account: {
    otp: 'generateOtp',
    requests: 'listRequests',
  },
} as const satisfies Places;

type Placed<Names> = Names extends string ? Names : { [Name in keyof Names]: Placed<Names[Name]> }[keyof Names];
type Missing = Exclude<keyof Operations, Placed<typeof places>>;
type Unknown = Exclude<Placed<typeof places>, keyof Operations>;

/** Does not compile where an operation has no line above, or a line no operation; the error names it. The generator refuses such a table too. */
export const PLACES: [Missing, Unknown] extends [never, never] ? typeof places : [Missing, Unknown] = places;

/** Operations by the name that they have in their group; a group within a group likewise. */
export interface Places {
  readonly [name: string]: string | Places;
}
