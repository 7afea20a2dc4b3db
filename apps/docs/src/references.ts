import type { Operation } from './document.ts';

/** The section of the operator API: a locale of VitePress, so that it has a navigation and a search of its own. */
export const OPERATOR_SECTION = 'operator';

/** A document that the site shows: a Redoc page, a Markdown page for each operation, and its collections. */
export interface Reference {
  /** Name of the downloads. */
  readonly name: string;
  /** The page in which Redoc shows the document, from the root of the site. */
  readonly page: string;
  /** The folder of the operation pages, from the root of the site. Its first page lists the operations, also those of the extension. */
  readonly operations: string;
  /** Title in the navigation. */
  readonly title: string;
  /** The bundle: its name in the exports of a package, without the extension. */
  readonly bundle: string;
  /** The API that has the operations. */
  readonly api: 'reseller' | 'operator';
  /** The environment variable that holds the credential in the samples. */
  readonly credential: string;
  /** Whether the document follows the specification, so that parts can be inferred or assumed. */
  readonly followsSpecification: boolean;
}

/** The header of the credential, with the word before it. */
export function credentialHeader({ api }: Reference): { readonly name: string; readonly prefix: string } {
  return api === 'reseller' ? { name: 'X-SERVICE-APIKEY', prefix: '' } : { name: 'Authorization', prefix: 'Bearer ' };
}

/** The folder of the pages about the extension, within that of their kind. A service without the extension does not serve it. */
export const EXTENSION_FOLDER = 'extension';

export function isOfExtension(part: { readonly 'x-origin'?: 'extension' }): boolean {
  return part['x-origin'] === 'extension';
}

/** The page of an operation, from the root of the site, without its extension. */
export function operationPath({ operations }: Reference, operation: Operation): string {
  const folder = isOfExtension(operation) ? `operations/${EXTENSION_FOLDER}` : operations;
  return `${folder}/${operation.operationId}`;
}

/** The documents of the site. A further one needs an entry here. */
export const references = [
  {
    name: 'reseller',
    page: 'reference/reseller',
    operations: 'operations/reseller',
    title: 'Reseller API',
    bundle: '@reseller/openapi/service',
    api: 'reseller',
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
    credential: 'RESELLER_OPERATOR_TOKEN',
    followsSpecification: false,
  },
] as const satisfies readonly Reference[];

/** The reseller API without the extension: for download, for contract tests, and the reference of a service that has no extension. */
export const SPECIFICATION: Reference = { ...references[0], name: 'specification', bundle: '@reseller/openapi/openapi' };
