/** The identifiers in paths of the examples. A sandbox has a resource for each, so that a copied example works. */
import operator from '@reseller/openapi/operator.json' with { type: 'json' };
import document from '@reseller/openapi/service.json' with { type: 'json' };

const { parameters, examples } = document.components;

export const sampleIdentifiers = {
  vm: Number(parameters.VmId.example),
  backup: parameters.BackupId.example,
  dedicatedServer: parameters.DedicatedIdentifier.example,
  cancelledDedicatedServer: parameters.CancelledDedicatedIdentifier.example,
  domain: parameters.DomainPath.example,
  dnsRecord: parameters.DnsRecordId.example,
  cancelledDomain: parameters.CancelledDomainPath.example,
  handle: parameters.HandlePath.example,
  handleWithoutPhone: examples.GetHandleWithoutPhone.value.data.handle,
  invoice: parameters.InvoiceId.example,
  apiKey: operator.components.parameters.ApiKeyIdPath.example,
  offer: operator.components.examples.OrderDedicatedServerForDemoRequest.value.market_id,
  orderedDedicatedServer: operator.components.parameters.ServerIdPath.example,
  sale: operator.components.parameters.SaleIdPath.example,
  webhook: parameters.WebhookId.example,
  webhookDelivery: Number(parameters.DeliveryId.example),
  verifier: operator.components.parameters.VerifierIdPath.example,
} as const;
