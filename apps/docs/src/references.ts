/** A document that the site shows: a Redoc page, a Markdown page for each operation, and its collections. */
export interface Reference {
  /** Name of the page (`reference/<name>.html`), of the folder of its operations, and of the downloads. */
  readonly name: string;
  /** Title in the navigation. */
  readonly title: string;
  /** The bundle: its name in the exports of a package, without the extension. */
  readonly bundle: string;
  /** The API that has the operations. The extension has the address and the credential of the reseller API. */
  readonly api: 'reseller' | 'operator';
  /** Whether the operations are additions to the specification, which readers must see at once. */
  readonly isExtension: boolean;
  /** The environment variable that holds the credential in the samples. */
  readonly credential: string;
  /** Whether the document follows the specification, so that parts can be inferred or assumed. */
  readonly followsSpecification: boolean;
}

/** The documents of the site. A further one needs an entry here. */
export const references: readonly Reference[] = [
  {
    name: 'reseller',
    title: 'Reseller API',
    bundle: '@reseller/openapi/openapi',
    api: 'reseller',
    isExtension: false,
    credential: 'RESELLER_API_KEY',
    followsSpecification: true,
  },
  {
    name: 'extension',
    title: 'Extension',
    bundle: '@reseller/openapi/extension',
    api: 'reseller',
    isExtension: true,
    credential: 'RESELLER_API_KEY',
    followsSpecification: true,
  },
  {
    name: 'operator',
    title: 'Operator API',
    bundle: '@reseller/openapi/operator',
    api: 'operator',
    isExtension: false,
    credential: 'RESELLER_OPERATOR_TOKEN',
    followsSpecification: false,
  },
];
