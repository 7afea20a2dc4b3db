import { parseDocument } from '@reseller/contract';
import document from '@reseller/openapi/operator.json' with { type: 'json' };

export const operatorDocument = parseDocument(document);
