import { listAuditRecords } from './access/audit.ts';
import { listFailedAuthentications } from './access/failed-authentications.ts';
import { createSession, endSession, getSession } from './access/session.ts';
import { createOperatorToken, listOperatorTokens, revokeOperatorToken, rotateOperatorToken } from './access/token.ts';
import { eraseAccount } from './account-erasure.ts';
import { listAccountEvents, listAccountWebhooks } from './account-events.ts';
import { exportAccount } from './account-export.ts';
import { getAccountCurrentInvoice } from './account-invoice.ts';
import { setQuotas } from './account-quotas.ts';
import { getAccountRequest, listAccountRequests } from './account-request.ts';
import { suspendAccount, unsuspendAccount } from './account-suspension.ts';
import { createAccount, getAccount, listAccounts, setCreditLimit } from './account.ts';
import { getApiKey, issueApiKey, listApiKeys, revokeApiKey, rotateApiKey, setApiKeyRateLimit, setApiKeyRestrictions } from './api-key.ts';
import { getBillingProfile, setBillingProfile } from './billing-profile.ts';
import { exportBookkeeping } from './bookkeeping.ts';
import { defineHostSystem, getHostSystem, listHostSystems } from './catalogue/host-system.ts';
import { defineIpPool, getIpPool, listIpPools } from './catalogue/ip-pool.ts';
import { defineOsImage, getOsImage, listOsImages } from './catalogue/os-image.ts';
import { listHostSystemPriceVersions, scheduleHostSystemPrices, withdrawHostSystemPrices } from './catalogue/price-version.ts';
import { addMarketItem, listMarketItems } from './dedicated/market.ts';
import { completeDedicatedSetup, getDedicatedServer, listDedicatedServers, orderDedicatedServer } from './dedicated/server.ts';
import { listDnsRecords } from './domain/dns-record.ts';
import { getDomain, listDomains, terminateDomain } from './domain/domain.ts';
import { getTldPrice, listTldPrices, listTldPriceVersions, scheduleTldPrices, setTldPrice, withdrawTldPrices } from './domain/tld-price.ts';
import { cancelInvoice, createCreditNote, getInvoice, listInvoices, markInvoicePaid } from './invoice.ts';
import { getDocumentSeries, getSeller, setDocumentSeries, setSeller } from './invoicing.ts';
import type { OperatorTable } from './operation.ts';
import { listVerifiers, registerVerifier, revokeVerifier } from './otp/verifier.ts';
import { verifyOtp } from './otp/verify.ts';
import { listPayments, recordPayment, recordRefund, reversePayment } from './payment.ts';
import { adoptVm, getReconciliation, releaseVm } from './reconcile.ts';
import { createSale, endSale, listSales } from './sale.ts';
import { advanceClock, getClock } from './sandbox/clock.ts';
import { createFault, listFaults, removeFault } from './sandbox/fault.ts';
import { createIsolatedAccount, deleteIsolatedAccount } from './sandbox/isolated-account.ts';
import { resetSandbox } from './sandbox/reset.ts';
import { createSnapshot, deleteSnapshot, listSnapshots, restoreSnapshot } from './sandbox/snapshot.ts';
import { getDueWork, retryJobs } from './service/due-work.ts';
import { followRequests, listRequests } from './service/requests.ts';
import {
  getSettings,
  setDefaultRateLimit,
  setAuditRetention,
  setDefaultQuotas,
  setRequestLogRetention,
  setSecondOperator,
  setVatRates,
  setVmIdentifierQuarantine,
} from './service/settings.ts';
import { createVmBackup, deleteVmBackup, getVmBackups, restoreVmBackup } from './vm-backups.ts';
import { getVmRdns, setVmRdns } from './vm-rdns.ts';
import { getVmTraffic, getVmUsage } from './vm-usage.ts';
import {
  getVm,
  getVmAccess,
  listVms,
  quoteResizeVm,
  removeVm,
  resizeVm,
  restartVmBilling,
  setVmAbuseStatus,
  startVm,
  stopVm,
} from './vm.ts';

/** The handler of each operation of the operator document. */
export const operatorTable: OperatorTable = {
  listAccounts,
  createAccount,
  getAccount,
  listAccountRequests,
  getAccountRequest,
  listAccountEvents,
  listAccountWebhooks,
  getAccountCurrentInvoice,
  setCreditLimit,
  setQuotas,
  suspendAccount,
  unsuspendAccount,
  exportAccount,
  exportBookkeeping,
  eraseAccount,
  getBillingProfile,
  setBillingProfile,
  listApiKeys,
  getApiKey,
  issueApiKey,
  rotateApiKey,
  revokeApiKey,
  setApiKeyRateLimit,
  setApiKeyRestrictions,
  listHostSystems,
  getHostSystem,
  defineHostSystem,
  listHostSystemPriceVersions,
  scheduleHostSystemPrices,
  withdrawHostSystemPrices,
  listOsImages,
  getOsImage,
  defineOsImage,
  listIpPools,
  getIpPool,
  defineIpPool,
  listSales,
  createSale,
  endSale,
  listMarketItems,
  addMarketItem,
  listDedicatedServers,
  getDedicatedServer,
  orderDedicatedServer,
  completeDedicatedSetup,
  listVms,
  getVm,
  getVmAccess,
  getVmBackups,
  createVmBackup,
  restoreVmBackup,
  deleteVmBackup,
  getVmUsage,
  getVmTraffic,
  getVmRdns,
  setVmRdns,
  removeVm,
  stopVm,
  setVmAbuseStatus,
  startVm,
  resizeVm,
  quoteResizeVm,
  restartVmBilling,
  adoptVm,
  releaseVm,
  getReconciliation,
  listInvoices,
  getInvoice,
  createCreditNote,
  markInvoicePaid,
  listPayments,
  recordPayment,
  recordRefund,
  reversePayment,
  cancelInvoice,
  getSeller,
  setSeller,
  getDocumentSeries,
  setDocumentSeries,
  listDomains,
  getDomain,
  terminateDomain,
  listDnsRecords,
  listTldPrices,
  getTldPrice,
  setTldPrice,
  listTldPriceVersions,
  scheduleTldPrices,
  withdrawTldPrices,
  getSession,
  createSession,
  endSession,
  listOperatorTokens,
  createOperatorToken,
  rotateOperatorToken,
  revokeOperatorToken,
  listAuditRecords,
  listFailedAuthentications,
  verifyOtp,
  listVerifiers,
  registerVerifier,
  revokeVerifier,
  getClock,
  advanceClock,
  resetSandbox,
  listSnapshots,
  createSnapshot,
  deleteSnapshot,
  restoreSnapshot,
  listFaults,
  createFault,
  removeFault,
  createIsolatedAccount,
  deleteIsolatedAccount,
  getSettings,
  setDefaultRateLimit,
  setVatRates,
  setRequestLogRetention,
  setSecondOperator,
  setAuditRetention,
  setDefaultQuotas,
  setVmIdentifierQuarantine,
  getDueWork,
  retryJobs,
  listRequests,
  followRequests,
};
