/** The pages of the console, with the sample data. */
import operatorDocument from '@reseller/openapi/operator.json' with { type: 'json' };

export const DEMO_ACCOUNT = '01900000-0000-7000-8000-000000000001';
/** A server of the sample data. */
const SERVER = operatorDocument.components.parameters.ServerIdPath.example;

export const PAGES = [
  { name: 'requests', path: '' },
  { name: 'request', path: `requests/${DEMO_ACCOUNT}/1` },
  { name: 'overview', path: 'overview' },
  { name: 'jobs', path: 'jobs' },
  { name: 'accounts', path: 'accounts' },
  { name: 'account', path: `accounts/${DEMO_ACCOUNT}` },
  { name: 'vms', path: 'vms' },
  { name: 'vm', path: 'vms/48213' },
  { name: 'servers', path: 'servers' },
  { name: 'server', path: `servers/${SERVER}` },
  { name: 'domains', path: 'domains' },
  { name: 'domain', path: 'domains/reseller-customer.net' },
  { name: 'invoices', path: 'invoices' },
  { name: 'invoice', path: 'invoices/INV-00001' },
  { name: 'payments', path: 'payments' },
  { name: 'nodes', path: 'nodes' },
  { name: 'host-system', path: 'nodes/nl_ryzen' },
  { name: 'reconcile', path: 'reconcile' },
  { name: 'catalogue', path: 'catalogue' },
  { name: 'tld', path: 'catalogue/net' },
  { name: 'clock', path: 'clock' },
  { name: 'faults', path: 'faults' },
  { name: 'access', path: 'access' },
  { name: 'audit', path: 'audit' },
  { name: 'settings', path: 'settings' },
];
