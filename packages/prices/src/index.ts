export { priceOf, priceReads, readKey, type PriceData, type PriceRead, type Purchase } from './prices.ts';
export { hasNoQuotes, priceOfQuote, quoteOperation } from './quote.ts';
