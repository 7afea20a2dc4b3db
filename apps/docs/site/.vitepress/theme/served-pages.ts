import type { DefaultTheme, SiteData } from 'vitepress';

const OF_EXTENSION = /\/(?:reference|operations)\/extension\b/;

/**
 * Leaves the pages of the extension out of the search of a service without it, whose own-servers.js marks the document.
 * The filter is set here because a function in the configuration would be text, which the Content-Security-Policy does not let the page evaluate.
 */
export function searchServedPages({ themeConfig }: SiteData<DefaultTheme.Config>): void {
  const { search } = themeConfig;
  const options = search?.provider === 'local' ? search.options?.miniSearch?.searchOptions : undefined;
  if (options === undefined) throw new Error('The search of the site has no options.');
  options.filter = ({ id }) => !document.documentElement.classList.contains('without-extension') || !OF_EXTENSION.test(String(id));
}
