import { generateOtp } from './account/otp/handler.ts';
import { listRequests } from './account/requests/handler.ts';
import { getCurrentInvoice } from './accounting/current-invoice/handler.ts';
import { getInvoice } from './accounting/get-invoice/handler.ts';
import { listInvoices } from './accounting/list-invoices/handler.ts';
import { listSales } from './accounting/list-sales/handler.ts';
import { deleteDedicatedServer } from './dedicated/delete/handler.ts';
import { getDedicatedServer } from './dedicated/info/handler.ts';
import { listDedicatedServers } from './dedicated/list/handler.ts';
import { listDedicatedMarket } from './dedicated/list-market/handler.ts';
import { undeleteDedicatedServer } from './dedicated/undelete/handler.ts';
import { requestDomainAuthcode } from './domain/authcode/handler.ts';
import { editDomainDns } from './domain/dns-edit/handler.ts';
import { listHandleCountries } from './domain/handle/countries/handler.ts';
import { createHandle } from './domain/handle/create/handler.ts';
import { getHandle } from './domain/handle/info/handler.ts';
import { getDomain } from './domain/info/handler.ts';
import { listDomains } from './domain/list/handler.ts';
import { setDomainNameservers } from './domain/nameserver/handler.ts';
import { getDomainPricings } from './domain/pricings/handler.ts';
import { registerDomain } from './domain/register/handler.ts';
import { undeleteDomain } from './domain/undelete/handler.ts';
import type { OperationTable } from './operation.ts';
import { createVm } from './vm/create/handler.ts';
import { listVmHosts } from './vm/list-hosts/handler.ts';
import { reinstallVm } from './vm/reinstall/handler.ts';

/** What carries out each operation of the document. */
export const operations: OperationTable = {
  createVm,
  reinstallVm,
  listVmHosts,
  getCurrentInvoice,
  getInvoice,
  listInvoices,
  listSales,
  generateOtp,
  listRequests,

  listDedicatedServers,
  listDedicatedMarket,
  getDedicatedServer,
  deleteDedicatedServer,
  undeleteDedicatedServer,
  listDomains,
  getDomainPricings,
  registerDomain,
  getDomain,
  setDomainNameservers,
  requestDomainAuthcode,
  undeleteDomain,
  editDomainDns,
  createHandle,
  listHandleCountries,
  getHandle,
};
