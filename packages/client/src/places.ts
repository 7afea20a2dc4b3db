/** The place of each operation in `createReseller`. The generator reports an operation that is missing here, and a name that the document does not have. */
export const PLACES: Places = {
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
    requestAuthcode: 'requestDomainAuthcode',
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
    createOtp: 'generateOtp',
    requests: 'listRequests',
  },
};

/** The operations of the extension, in the groups of `@reseller/client/extension`. */
export const EXTENSION_PLACES: Places = {
  vm: {
    list: 'listVms',
    search: 'searchVms',
    osImages: 'listVmOsImages',
    isoFiles: 'listIsoFiles',
    iso: {
      attach: 'attachVmIso',
      detach: 'detachVmIso',
    },
    abuse: {
      submitStatement: 'submitVmAbuseStatement',
    },
    monitoring: 'setVmMonitoring',
    config: 'getVmConfig',
    status: 'getVmStatus',
    installation: 'getVmInstallation',
    power: 'setVmPower',
    change: 'changeVm',
    quoteCreate: 'quoteCreateVm',
    quoteChange: 'quoteChangeVm',
    edit: 'editVm',
    delete: 'deleteVm',
    resetPassword: 'resetVmPassword',
    sshKey: {
      list: 'listSshKeys',
      add: 'addSshKey',
      remove: 'removeSshKey',
    },
    backup: {
      list: 'listVmBackups',
      create: 'createVmBackup',
      restore: 'restoreVmBackup',
      delete: 'deleteVmBackup',
      schedule: 'setVmBackupSchedule',
    },
    ddosProtection: 'getVmDdosProtection',
    console: 'openVmConsole',
    usage: 'getVmUsage',
    traffic: 'getVmTraffic',
    rdns: {
      list: 'listVmRdns',
      set: 'setVmRdns',
      remove: 'removeVmRdns',
    },
  },
  ip: {
    list: 'listIps',
    available: 'listAvailableIps',
    buy: 'buyIps',
    quoteBuy: 'quoteBuyIps',
    assign: 'assignIp',
    quoteAssign: 'quoteAssignIp',
    release: 'releaseIp',
  },
  dedicated: {
    offer: 'getDedicatedOffer',
    purchase: 'purchaseDedicatedServer',
    quotePurchase: 'quotePurchaseDedicatedServer',
    quoteUndelete: 'quoteUndeleteDedicatedServer',
  },
  accounting: {
    pricings: 'getPricings',
    documents: 'listDocuments',
    payments: 'listPayments',
    credit: 'getCredit',
  },
  account: {
    keys: {
      list: 'listKeys',
      rotate: 'rotateKey',
      revoke: 'revokeKey',
    },
    events: 'listEvents',
    webhooks: {
      list: 'listWebhooks',
      add: 'addWebhook',
      edit: 'editWebhook',
      remove: 'removeWebhook',
      rotate: 'rotateWebhookSecret',
      test: 'testWebhook',
      deliveries: 'listWebhookDeliveries',
      replayDelivery: 'replayWebhookDelivery',
      replay: 'replayWebhook',
    },
  },
  domain: {
    handle: {
      list: 'listHandles',
    },
    check: 'checkDomain',
    setTransferLock: 'setDomainTransferLock',
    setHandle: 'setDomainHandle',
    delete: 'deleteDomain',
    quoteRegister: 'quoteRegisterDomain',
    quoteUndelete: 'quoteUndeleteDomain',
    renew: 'renewDomain',
    quoteRenew: 'quoteRenewDomain',
    dns: {
      list: 'listDomainDns',
      add: 'addDomainDns',
      edit: 'editDomainDnsRecord',
      remove: 'removeDomainDns',
    },
    dnssec: {
      info: 'getDomainDnssec',
      enable: 'enableDomainDnssec',
      disable: 'disableDomainDnssec',
    },
  },
};

/** Operations by their names in the group, and further groups. */
export interface Places {
  readonly [name: string]: string | Places;
}
