import type { DefaultTheme, SiteData } from 'vitepress';

/** The pages that a service without the extension does not serve. */
const OF_EXTENSION = /\/(?:operations|concepts)\/extension\//;

/**
 * Leaves the pages of the extension out of the search of a service without it, whose own-servers.js marks the document.
 * The filter is set here because a function in the configuration would be text, which the Content-Security-Policy does not let the page evaluate.
 */
export function searchServedPages({ themeConfig }: SiteData<DefaultTheme.Config>): void {
  const { search } = themeConfig;
  const options = search?.provider === 'local' ? search.options?.miniSearch?.searchOptions : undefined;
  if (options === undefined) throw new Error('The search of the site has no options.');
  options.filter = ({ id }) => isServed(String(id));
}

export function hasExtension(): boolean {
  return !document.documentElement.classList.contains('without-extension');
}

function isServed(address: string): boolean {
  return hasExtension() || !OF_EXTENSION.test(address);
}

/** Makes text of the links of a page to pages that the service does not serve. */
export function unlinkOthers(): void {
  for (const link of document.querySelectorAll<HTMLAnchorElement>('.vp-doc a[href]'))
    if (!isServed(link.href)) link.removeAttribute('href');
}
