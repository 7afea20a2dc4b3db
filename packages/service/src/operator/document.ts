import document from '@reseller/openapi/operator.json' with { type: 'json' };
import { parseDocument } from '@reseller/contract';

export const operatorDocument = parseDocument(document);
