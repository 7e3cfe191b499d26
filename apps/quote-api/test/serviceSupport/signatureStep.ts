// The signature step of a quote as wallets and public clients take it: sign what is shown, post it where it says.
import type { Hex } from '@causeway/core'
import type { LocalAccount } from '@causeway/localnet'
import { privateKeyToAccount } from 'viem/accounts'
import { type Answer, post, type QuoteAnswer } from './callService.ts'

/** The one signature step of a quote. */
export function signatureOf({ steps }: Pick<QuoteAnswer, 'steps'>) {
  const step = steps.at(-1)
  const item = step?.kind === 'signature' && step.id !== 'authorize' ? step.items[0] : undefined
  if (step === undefined || item === undefined) throw new Error('the quote asks for no signature')
  return { id: step.id, ...item.data }
}

/** Signs as a wallet signs what the service shows. */
export function signStep(quote: QuoteAnswer, { privateKey }: Pick<LocalAccount, 'privateKey'>): Promise<Hex> {
  const { domain, types, primaryType, value } = signatureOf(quote).sign
  return privateKeyToAccount(privateKey).signTypedData({
    // CAST: the wire describes an address as text.
    domain: { ...domain, verifyingContract: domain.verifyingContract as Hex },
    types,
    primaryType,
    message: value,
  })
}

/** Posts it as the public client does: the signature in the query. */
export function postSignature(
  url: string,
  quote: QuoteAnswer,
  { signature, change = {} }: { readonly signature: Hex; readonly change?: object },
): Promise<Answer> {
  const { post: to } = signatureOf(quote)
  const body = { ...to.body, referrer: 'a.client', ...change }
  return post(`${url}${to.endpoint}?signature=${signature}`, body)
}
