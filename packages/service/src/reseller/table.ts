import { generateOtp } from './account/generate-otp.ts';
import { listKeys, revokeKey, rotateKey } from './account/keys.ts';
import { listEvents } from './account/list-events.ts';
import { listRequests } from './account/list-requests.ts';
import { listWebhookDeliveries, replayWebhook, replayWebhookDelivery, testWebhook } from './account/webhook-deliveries.ts';
import { addWebhook, editWebhook, listWebhooks, removeWebhook, rotateWebhookSecret } from './account/webhooks.ts';
import { getCredit } from './accounting/get-credit.ts';
import { getCurrentInvoice } from './accounting/get-current-invoice.ts';
import { getInvoice } from './accounting/get-invoice.ts';
import { getPricings } from './accounting/get-pricings.ts';
import { listDocuments } from './accounting/list-documents.ts';
import { listInvoices } from './accounting/list-invoices.ts';
import { listPayments } from './accounting/list-payments.ts';
import { listSales } from './accounting/list-sales.ts';
import { deleteDedicatedServer } from './dedicated/delete-dedicated-server.ts';
import { getDedicatedOffer } from './dedicated/get-dedicated-offer.ts';
import { getDedicatedServer } from './dedicated/get-dedicated-server.ts';
import { listDedicatedMarket } from './dedicated/list-dedicated-market.ts';
import { listDedicatedServers } from './dedicated/list-dedicated-servers.ts';
import { purchaseDedicatedServer } from './dedicated/purchase-dedicated-server.ts';
import { quotePurchaseDedicatedServer } from './dedicated/quote-purchase-dedicated-server.ts';
import { quoteUndeleteDedicatedServer } from './dedicated/quote-undelete-dedicated-server.ts';
import { undeleteDedicatedServer } from './dedicated/undelete-dedicated-server.ts';
import { addDomainDns } from './domain/add-domain-dns.ts';
import { checkDomain } from './domain/check-domain.ts';
import { deleteDomain } from './domain/delete-domain.ts';
import { disableDomainDnssec } from './domain/disable-domain-dnssec.ts';
import { editDomainDnsRecord } from './domain/edit-domain-dns-record.ts';
import { editDomainDns } from './domain/edit-domain-dns.ts';
import { enableDomainDnssec } from './domain/enable-domain-dnssec.ts';
import { getDomainDnssec } from './domain/get-domain-dnssec.ts';
import { getDomainPricings } from './domain/get-domain-pricings.ts';
import { getDomain } from './domain/get-domain.ts';
import { listDomainDns } from './domain/list-domain-dns.ts';
import { listDomains } from './domain/list-domains.ts';
import { quoteRegisterDomain } from './domain/quote-register-domain.ts';
import { quoteUndeleteDomain } from './domain/quote-undelete-domain.ts';
import { registerDomain } from './domain/register-domain.ts';
import { removeDomainDns } from './domain/remove-domain-dns.ts';
import { quoteRenewDomain, renewDomain } from './domain/renew-domain.ts';
import { requestDomainAuthcode } from './domain/request-domain-authcode.ts';
import { setDomainHandle } from './domain/set-domain-handle.ts';
import { setDomainNameservers } from './domain/set-domain-nameservers.ts';
import { setDomainTransferLock } from './domain/set-domain-transfer-lock.ts';
import { undeleteDomain } from './domain/undelete-domain.ts';
import { createHandle } from './handle/create-handle.ts';
import { getHandle } from './handle/get-handle.ts';
import { listHandleCountries } from './handle/list-handle-countries.ts';
import { listHandles } from './handle/list-handles.ts';
import { assignIp, quoteAssignIp } from './ip/assign-ip.ts';
import { buyIps, quoteBuyIps } from './ip/buy-ips.ts';
import { listAvailableIps, listIps } from './ip/list-ips.ts';
import { releaseIp } from './ip/release-ip.ts';
import type { OperationTable } from './operation.ts';
import { createVmBackup, deleteVmBackup, listVmBackups, restoreVmBackup, setVmBackupSchedule } from './vm/backups.ts';
import { changeVm } from './vm/change-vm.ts';
import { createVm } from './vm/create-vm.ts';
import { getVmDdosProtection } from './vm/ddos.ts';
import { deleteVm } from './vm/delete-vm.ts';
import { editVm } from './vm/edit-vm.ts';
import { getVmConfig } from './vm/get-vm-config.ts';
import { getVmInstallation } from './vm/get-vm-installation.ts';
import { getVmStatus } from './vm/get-vm-status.ts';
import { attachVmIso, detachVmIso, listIsoFiles } from './vm/iso.ts';
import { listVmHosts } from './vm/list-vm-hosts.ts';
import { listVmOsImages } from './vm/list-vm-os-images.ts';
import { listVms, searchVms } from './vm/list-vms.ts';
import { openVmConsole } from './vm/open-vm-console.ts';
import { quoteChangeVm } from './vm/quote-change-vm.ts';
import { quoteCreateVm } from './vm/quote-create-vm.ts';
import { listVmRdns, removeVmRdns, setVmRdns } from './vm/rdns.ts';
import { reinstallVm } from './vm/reinstall-vm.ts';
import { resetVmPassword } from './vm/reset-vm-password.ts';
import { setVmMonitoring } from './vm/set-vm-monitoring.ts';
import { setVmPower } from './vm/set-vm-power.ts';
import { listSshKeys, removeSshKey, addSshKey } from './vm/ssh-keys.ts';
import { submitVmAbuseStatement } from './vm/submit-abuse-statement.ts';
import { getVmTraffic, getVmUsage } from './vm/usage.ts';

/** The handler of each operation. */
export const operations: OperationTable = {
  createVm,
  reinstallVm,
  listVmHosts,
  listVms,
  searchVms,
  editVm,
  listVmOsImages,
  getVmConfig,
  getVmInstallation,
  getVmStatus,
  setVmPower,
  changeVm,
  quoteCreateVm,
  quoteChangeVm,
  deleteVm,
  resetVmPassword,
  getVmDdosProtection,
  listIsoFiles,
  attachVmIso,
  submitVmAbuseStatement,
  setVmMonitoring,
  detachVmIso,
  listSshKeys,
  addSshKey,
  removeSshKey,
  listVmBackups,
  createVmBackup,
  restoreVmBackup,
  deleteVmBackup,
  setVmBackupSchedule,
  getVmUsage,
  getVmTraffic,
  listVmRdns,
  setVmRdns,
  removeVmRdns,
  openVmConsole,
  listIps,
  listAvailableIps,
  buyIps,
  quoteBuyIps,
  assignIp,
  quoteAssignIp,
  releaseIp,
  getCurrentInvoice,
  getInvoice,
  listInvoices,
  listDocuments,
  listPayments,
  getCredit,
  listSales,
  generateOtp,
  listRequests,
  listKeys,
  rotateKey,
  revokeKey,
  listEvents,
  listWebhooks,
  addWebhook,
  editWebhook,
  removeWebhook,
  rotateWebhookSecret,
  testWebhook,
  listWebhookDeliveries,
  replayWebhookDelivery,
  replayWebhook,
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
  setDomainTransferLock,
  renewDomain,
  quoteRenewDomain,
  setDomainHandle,
  getDomainDnssec,
  enableDomainDnssec,
  disableDomainDnssec,
  requestDomainAuthcode,
  undeleteDomain,
  editDomainDns,
  checkDomain,
  deleteDomain,
  getDedicatedOffer,
  purchaseDedicatedServer,
  quotePurchaseDedicatedServer,
  quoteUndeleteDedicatedServer,
  quoteRegisterDomain,
  quoteUndeleteDomain,
  getPricings,
  listDomainDns,
  addDomainDns,
  editDomainDnsRecord,
  removeDomainDns,
  createHandle,
  listHandleCountries,
  getHandle,
  listHandles,
};
