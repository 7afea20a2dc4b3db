/** The identifiers that the document's examples have in paths: a sandbox has something by each of them, so that a copied example works. */
import document from '@reseller/openapi/openapi.json' with { type: 'json' };

const { parameters, examples } = document.components;

export const sampleIdentifiers = {
  vm: Number(parameters.VmId.example),
  dedicatedServer: parameters.DedicatedIdentifier.example,
  cancelledDedicatedServer: parameters.CancelledDedicatedIdentifier.example,
  domain: parameters.DomainPath.example,
  cancelledDomain: parameters.CancelledDomainPath.example,
  handle: parameters.HandlePath.example,
  handleWithoutPhone: examples.GetHandleWithoutPhone.value.data.handle,
  invoice: parameters.InvoiceId.example,
} as const;
