/** The pages of the console. Each is loaded when it is opened, except the first. */
import type { OperationId } from '@reseller/operator-client';
import type { ComponentType } from 'react';

import { Requests } from '../views/Requests.tsx';
import { page } from './page.ts';

export interface View {
  readonly path: string;
  readonly title: string;
  readonly group: 'Watch' | 'Customers' | 'Money' | 'Offer' | 'Sandbox' | 'Service';
  /** The operation without which the page is empty. It is shown to those who may use it. */
  readonly needs: OperationId;
  readonly component: ComponentType;
}

export const VIEWS: readonly View[] = [
  { path: '/', title: 'Requests', group: 'Watch', needs: 'listRequests', component: Requests },
  {
    path: '/overview',
    title: 'Overview',
    group: 'Watch',
    needs: 'getDueWork',
    component: page(async () => ({ default: (await import('../views/Overview.tsx')).Overview })),
  },
  {
    path: '/jobs',
    title: 'Jobs',
    group: 'Watch',
    needs: 'getDueWork',
    component: page(async () => ({ default: (await import('../views/Jobs.tsx')).Jobs })),
  },
  {
    path: '/accounts',
    title: 'Accounts',
    group: 'Customers',
    needs: 'listAccounts',
    component: page(async () => ({ default: (await import('../views/Accounts.tsx')).Accounts })),
  },
  {
    path: '/vms',
    title: 'VMs',
    group: 'Customers',
    needs: 'listVms',
    component: page(async () => ({ default: (await import('../views/Vms.tsx')).Vms })),
  },
  {
    path: '/servers',
    title: 'Servers',
    group: 'Customers',
    needs: 'listDedicatedServers',
    component: page(async () => ({ default: (await import('../views/Servers.tsx')).Servers })),
  },
  {
    path: '/domains',
    title: 'Domains',
    group: 'Customers',
    needs: 'listDomains',
    component: page(async () => ({ default: (await import('../views/Domains.tsx')).Domains })),
  },
  {
    path: '/invoices',
    title: 'Invoices',
    group: 'Money',
    needs: 'listInvoices',
    component: page(async () => ({ default: (await import('../views/Invoices.tsx')).Invoices })),
  },
  {
    path: '/payments',
    title: 'Payments',
    group: 'Money',
    needs: 'listPayments',
    component: page(async () => ({ default: (await import('../views/Payments.tsx')).Payments })),
  },
  {
    path: '/nodes',
    title: 'Nodes',
    group: 'Offer',
    needs: 'listHostSystems',
    component: page(async () => ({ default: (await import('../views/Nodes.tsx')).Nodes })),
  },
  {
    path: '/reconcile',
    title: 'Reconcile',
    group: 'Offer',
    needs: 'getReconciliation',
    component: page(async () => ({ default: (await import('../views/Reconcile.tsx')).Reconcile })),
  },
  {
    path: '/catalogue',
    title: 'Catalogue',
    group: 'Offer',
    needs: 'listSales',
    component: page(async () => ({ default: (await import('../views/Catalogue.tsx')).Catalogue })),
  },
  {
    path: '/clock',
    title: 'Clock',
    group: 'Sandbox',
    needs: 'advanceClock',
    component: page(async () => ({ default: (await import('../views/Sandbox.tsx')).Sandbox })),
  },
  {
    path: '/faults',
    title: 'Faults',
    group: 'Sandbox',
    needs: 'createFault',
    component: page(async () => ({ default: (await import('../views/Faults.tsx')).Faults })),
  },
  {
    path: '/access',
    title: 'Access',
    group: 'Service',
    needs: 'listVerifiers',
    component: page(async () => ({ default: (await import('../views/Access.tsx')).Access })),
  },
  {
    path: '/audit',
    title: 'Audit',
    group: 'Service',
    needs: 'listAuditRecords',
    component: page(async () => ({ default: (await import('../views/Audit.tsx')).Audit })),
  },
  {
    path: '/settings',
    title: 'Settings',
    group: 'Service',
    needs: 'getSettings',
    component: page(async () => ({ default: (await import('../views/Settings.tsx')).Settings })),
  },
];

export const AccountPage = page(async () => ({ default: (await import('../views/Account.tsx')).AccountPage }));
export const VmPage = page(async () => ({ default: (await import('../views/Vms.tsx')).VmPage }));
export const ServerPage = page(async () => ({ default: (await import('../views/Servers.tsx')).ServerPage }));
export const DomainPage = page(async () => ({ default: (await import('../views/Domains.tsx')).DomainPage }));
export const InvoicePage = page(async () => ({ default: (await import('../views/Invoices.tsx')).InvoicePage }));
export const HostSystemPage = page(async () => ({ default: (await import('../views/Nodes.tsx')).HostSystemPage }));
export const TldPage = page(async () => ({ default: (await import('../views/Catalogue.tsx')).TldPage }));
