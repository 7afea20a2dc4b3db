export { priceOf, priceReads, readKey, serviceTime, type PriceData, type PriceRead, type Purchase } from './prices.ts';
export { hasNoQuotes, priceOfQuote, quoteOperation } from './quote.ts';
