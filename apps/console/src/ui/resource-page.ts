const PAGES: Readonly<Record<string, string>> = {
  account: 'accounts',
  dedicated: 'servers',
  domain: 'domains',
  invoice: 'invoices',
  server: 'servers',
  vm: 'vms',
};

/** The path of the page about a resource. Undefined if its kind has no page. */
export function resourcePage(kind: string, id: string): string | undefined {
  const page = PAGES[kind];
  return page === undefined || id === '' ? undefined : `/${page}/${encodeURIComponent(id)}`;
}
