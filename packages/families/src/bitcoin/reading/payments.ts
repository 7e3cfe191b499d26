import { createBitcoinCodec, type Hex, namedOrder, type TransferFact } from '@causeway/core'
import { scriptAddress } from '../rules/script.ts'
import type { BitcoinOutput, BitcoinTransaction } from '../rules/transaction.ts'
import type { BitcoinRules } from './deposits.ts'
import { opReturnTexts } from './opReturn.ts'

/**
 * Some OP_RETURN output must say the order id and nothing else, and none may name another one.
 * @source rule P-40
 */
export function referencesOrder(transaction: BitcoinTransaction, orderId: Hex): boolean {
  const wanted = orderId.toLowerCase()
  const texts = opReturnTexts(transaction).map(({ text }) => text)
  return namedOrder(texts) === wanted && texts.some((text) => text.toLowerCase() === wanted)
}

type Paid = {
  readonly transaction: BitcoinTransaction
  /** What each input spends; `undefined` for the input of a coinbase. */
  readonly spent: readonly (BitcoinOutput | undefined)[]
}

/**
 * What the outputs pay to each recipient, once per recipient and currency however often it is asked for.
 * There is no other currency than the native one. Whoever spends an input pays; what a depository spends is
 * a withdrawal, and what the recipient spends beside others is a trade: both pay no order.
 * @throws InvalidAddressError
 * @source design.md 7.2
 */
export function sumTransfers(
  { transaction: { outputs }, spent }: Paid,
  targets: readonly { readonly recipient: string; readonly currency: string }[],
  { network, depositories }: BitcoinRules,
): readonly TransferFact[] {
  const codec = createBitcoinCodec(network)
  const payers = spent.map((output) => output && scriptAddress(output.script, network))
  const isWithdrawal = payers.some((payer) => payer !== undefined && depositories.includes(payer))
  const asked = new Map(
    targets.map((target) => {
      const recipient = codec.canonicalAddress(target.recipient)
      const currency = codec.canonicalAddress(target.currency)
      return [`${recipient} ${currency}`, { recipient, currency }]
    }),
  )
  return [...asked.values()].map(({ recipient, currency }) => {
    if (currency !== codec.nativeCurrency) return { recipient, currency, amount: 0n }
    const paid = outputs
      .filter(({ script }) => scriptAddress(script, network) === recipient)
      .reduce((sum, { value }) => sum + value, 0n)
    if (!isWithdrawal && !payers.includes(recipient)) return { recipient, currency, amount: paid }
    return { recipient, currency, amount: 0n, ...(paid > 0n && { fromOthers: paid }) }
  })
}
