/** Where `createReseller` offers each operation of the document: one line for each. Which are missing or too many, the generator says. */
export const PLACES = {
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

/** Operations by the name that they have in their group; a group within a group likewise. */
export interface Places {
  readonly [name: string]: string | Places;
}
