/** A document that the site shows: a Redoc page, a Markdown page for each operation, and its collections. */
export interface Reference {
  /** Name of the page (`reference/<name>.html`), of the folder of its operations, and of the downloads. */
  readonly name: string;
  /** Title in the navigation. */
  readonly title: string;
  /** The bundle: its name in the exports of a package, without the extension. */
  readonly bundle: string;
  /** The client that the TypeScript samples use. */
  readonly client: 'reseller' | 'operator';
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
    client: 'reseller',
    credential: 'RESELLER_API_KEY',
    followsSpecification: true,
  },
  {
    name: 'operator',
    title: 'Operator API',
    bundle: '@reseller/openapi/operator',
    client: 'operator',
    credential: 'RESELLER_OPERATOR_TOKEN',
    followsSpecification: false,
  },
];
