/** One page of the site: a document, shown by Redoc. */
export interface Page {
  /** Name of the page's files: `index` becomes index.html, index.js, index.json and index.yaml. */
  readonly name: string;
  /** What the page shows: the name under which a package exports the bundle, without the ending. */
  readonly bundle: string;
}

/** The pages of the site. The first one stands at its root. */
export const pages: readonly Page[] = [
  { name: 'index', bundle: '@reseller/openapi/openapi' },
  { name: 'operator', bundle: '@reseller/openapi/operator' },
];
