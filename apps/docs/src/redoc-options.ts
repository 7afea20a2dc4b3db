import type { RedocRawOptions } from 'redoc';

/** The fonts of the reader's system, as CSS names them. */
export const systemFont = 'system-ui, -apple-system, "Segoe UI", "Liberation Sans", Arial, sans-serif';
const systemMonospace = 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace';

/** How Redoc shows a document. Fonts are those of the reader's system: Redoc's own would come from another host. */
export const redocOptions: RedocRawOptions = {
  nativeScrollbars: true,
  expandResponses: '200',
  jsonSamplesExpandLevel: 4,
  schemasExpansionLevel: 1,
  sortRequiredPropsFirst: true,
  // What a reseller's developer asks before calling an operation: does it cost money, and may it be sent twice? And an operator: is it for sandboxes?
  showExtensions: ['x-billable', 'x-retry', 'x-sandbox-only'],
  theme: {
    typography: {
      fontFamily: systemFont,
      headings: { fontFamily: systemFont },
      code: { fontFamily: systemMonospace },
    },
  },
};
