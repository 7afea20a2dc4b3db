/** Sentences of a document. */
import { leftToPay } from './content.ts';
import type { DocumentContent } from './content.ts';
import { TEXTS } from './texts.ts';
import type { Texts } from './texts.ts';

export function textsOf({ language = 'en' }: Pick<DocumentContent, 'language'>): Texts {
  return TEXTS[language];
}

export function creditNote(content: DocumentContent): string {
  const texts = textsOf(content);
  return texts.weCredit(texts.decimal(content.gross), content.corrects?.number ?? '');
}

export function paymentNote(content: DocumentContent): string {
  const { due, seller, number } = content;
  const texts = textsOf(content);
  return texts.pleaseTransfer({ amount: texts.decimal(leftToPay(content)), due, iban: seller.iban, bank: seller.bank_name, number });
}
