export { priceOf, priceReads, readKey, type PriceData, type PriceRead, type Purchase } from './prices.ts';
