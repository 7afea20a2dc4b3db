import type { Verdict } from '@reseller/contract/engine';

import type { Tamper } from '../selftest/fake-service.ts';

/** A defect of the service, and its expected finding on the page. */
export interface KnownDefect {
  readonly operation: string;
  readonly verdict: Verdict;
  readonly says: string;
  /** The contradicted part of the document: a source file, and the text of the line. */
  readonly file: string;
  readonly line: string;
  /** Lines of the proposed change; none when the service is wrong. */
  readonly patch: readonly string[];
}

export const KNOWN: readonly KnownDefect[] = [
  {
    operation: 'getDomainPricings',
    verdict: 'violation',
    says: 'the body is not the JSON that the document describes',
    file: 'openapi/domain.yaml',
    line: 'content:',
    patch: [],
  },
  {
    operation: 'getCurrentInvoice',
    verdict: 'violation',
    says: '/data/creditLimit must be a number',
    file: 'openapi/accounting.yaml',
    line: 'type: number',
    patch: [],
  },
  {
    operation: 'listDomains',
    verdict: 'violation',
    says: 'the service accepts a request without an API key',
    file: 'openapi/openapi.yaml',
    line: 'security:',
    patch: [],
  },
  {
    operation: 'getDomain',
    verdict: 'violation',
    says: 'the service fails with 500 for an identifier that does not exist',
    file: 'openapi/domain.yaml',
    line: 'responses:',
    patch: [],
  },
  {
    operation: 'listVmHosts',
    verdict: 'learned',
    says: '/data/*/name must be a string',
    file: 'openapi/vm-hosts.yaml',
    line: 'type: string',
    patch: ['-          type: string', '+          type: [string, integer]'],
  },
  {
    operation: 'listDedicatedServers',
    verdict: 'discovered',
    says: 'the document does not describe the property note',
    file: 'openapi/dedicated.yaml',
    line: 'properties:',
    patch: ['+            note:', '+              type: string'],
  },
  {
    operation: 'listSales',
    verdict: 'discovered',
    says: 'the document does not describe the response header x-requests-left',
    file: 'openapi/accounting.yaml',
    line: "'200':",
    patch: ['+            x-requests-left:'],
  },
];

/** Injects all of these defects. */
export const defective: Tamper = ({ operation, outcome, response, key, success }) => {
  const body = Object(response.body);
  if (operation?.id === 'listDomains' && key === 'none') return success();
  if (operation?.id === 'getDomain' && outcome === 'unknown-id') return { ...response, status: 500 };
  if (outcome !== 'success') return undefined;
  switch (operation?.id) {
    case 'getDomainPricings':
      return { ...response, body: 'soon' };
    case 'getCurrentInvoice':
      return { ...response, body: { ...body, data: { ...body.data, creditLimit: 'much' } } };
    case 'listVmHosts':
      return { ...response, body: { ...body, data: [{ ...body.data[0], name: 7 }] } };
    case 'listDedicatedServers':
      return { ...response, body: { ...body, note: 'x' } };
    case 'listSales':
      return { ...response, headers: { ...response.headers, 'x-requests-left': '41' } };
    default:
      return undefined;
  }
};
