/** The section of the operator API: a locale of VitePress, so that it has a navigation and a search of its own. */
export const OPERATOR_SECTION = 'operator';

/** A document that the site shows: a Redoc page, a Markdown page for each operation, and its collections. */
export interface Reference {
  /** Name of the downloads. */
  readonly name: string;
  /** The page in which Redoc shows the document, from the root of the site. */
  readonly page: string;
  /** The folder of the operation pages, from the root of the site. Its first page lists the operations. */
  readonly operations: string;
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

/** The header of the credential, with the word before it. */
export function credentialHeader({ api }: Reference): { readonly name: string; readonly prefix: string } {
  return api === 'reseller' ? { name: 'X-SERVICE-APIKEY', prefix: '' } : { name: 'Authorization', prefix: 'Bearer ' };
}

/** The documents of the site. A further one needs an entry here. */
export const references = [
  {
    name: 'reseller',
    page: 'reference/reseller',
    operations: 'operations/reseller',
    title: 'Reseller API',
    bundle: '@reseller/openapi/openapi',
    api: 'reseller',
    isExtension: false,
    credential: 'RESELLER_API_KEY',
    followsSpecification: true,
  },
  {
    name: 'extension',
    page: 'reference/extension',
    operations: 'operations/extension',
    title: 'Extension',
    bundle: '@reseller/openapi/service',
    api: 'reseller',
    isExtension: true,
    credential: 'RESELLER_API_KEY',
    followsSpecification: true,
  },
  {
    name: 'operator',
    page: 'operator/reference',
    operations: 'operator/operations',
    title: 'Operator API',
    bundle: '@reseller/openapi/operator',
    api: 'operator',
    isExtension: false,
    credential: 'RESELLER_OPERATOR_TOKEN',
    followsSpecification: false,
  },
] as const satisfies readonly Reference[];
