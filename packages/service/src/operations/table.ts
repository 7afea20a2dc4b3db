import { generateOtp } from './account/otp/handler.ts';
import { listRequests } from './account/requests/handler.ts';
import { getCurrentInvoice } from './accounting/current-invoice/handler.ts';
import type { NotBuilt, OperationTable } from './operation.ts';
import { createVm } from './vm/create/handler.ts';
import { listVmHosts } from './vm/list-hosts/handler.ts';
import { reinstallVm } from './vm/reinstall/handler.ts';

const notBuilt: NotBuilt = { kind: 'not-built' };

/** What carries out each operation of the document. */
export const operations: OperationTable = {
  createVm,
  reinstallVm,
  listVmHosts,
  getCurrentInvoice,
  generateOtp,
  listRequests,

  listDedicatedServers: notBuilt,
  listDedicatedMarket: notBuilt,
  getDedicatedServer: notBuilt,
  deleteDedicatedServer: notBuilt,
  undeleteDedicatedServer: notBuilt,
  listDomains: notBuilt,
  getDomainPricings: notBuilt,
  registerDomain: notBuilt,
  getDomain: notBuilt,
  setDomainNameservers: notBuilt,
  requestDomainAuthcode: notBuilt,
  undeleteDomain: notBuilt,
  editDomainDns: notBuilt,
  createHandle: notBuilt,
  listHandleCountries: notBuilt,
  getHandle: notBuilt,
  listSales: notBuilt,
  listInvoices: notBuilt,
  getInvoice: notBuilt,
};
