/** One page of the site: a document, shown by Redoc. */
export interface Page {
  /** Name of the page's files: `index` becomes index.html, index.js, index.json and index.yaml. */
  readonly name: string;
  /** The bundle that the page shows: its name in the exports of a package, without the extension. */
  readonly bundle: string;
}

/** The pages of the site. The first one is at its root. */
export const pages: readonly Page[] = [
  { name: 'index', bundle: '@reseller/openapi/openapi' },
  { name: 'operator', bundle: '@reseller/openapi/operator' },
];
