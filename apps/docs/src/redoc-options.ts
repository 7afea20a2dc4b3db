import type { RedocRawOptions } from 'redoc';

/** The fonts of the reader's system, in CSS. */
export const systemFont = 'system-ui, -apple-system, "Segoe UI", "Liberation Sans", Arial, sans-serif';
const systemMonospace = 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace';

/** Options of Redoc. They use the fonts of the reader's system, because Redoc's own would come from another host. */
export const redocOptions: RedocRawOptions = {
  nativeScrollbars: true,
  expandResponses: '200',
  jsonSamplesExpandLevel: 4,
  schemasExpansionLevel: 1,
  sortRequiredPropsFirst: true,
  // Before calling an operation, a developer asks: Does it cost money? May it be repeated? Is it only for sandboxes?
  showExtensions: ['x-billable', 'x-retry', 'x-sandbox-only'],
  theme: {
    typography: {
      fontFamily: systemFont,
      headings: { fontFamily: systemFont },
      code: { fontFamily: systemMonospace },
    },
  },
};
