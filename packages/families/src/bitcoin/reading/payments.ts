import { type Hex, namedOrder, type TransferFact } from '@causeway/core'
import { createBitcoinCodec } from '@causeway/core/encodings'
import { scriptAddress } from '../rules/script.ts'
import type { BitcoinOutput, BitcoinTransaction } from '../rules/transaction.ts'
import type { BitcoinRules } from './deposits.ts'
import { opReturnTexts } from './opReturn.ts'

/**
 * True if some OP_RETURN output holds the order id and nothing else, and none names another order.
 * @source rule P-40
 */
export function referencesOrder(transaction: BitcoinTransaction, orderId: Hex): boolean {
  const wanted = orderId.toLowerCase()
  const texts = opReturnTexts(transaction).map(({ text }) => text)
  return namedOrder(texts) === wanted && texts.some((text) => text.toLowerCase() === wanted)
}

/** A final transaction, and what its inputs spend. */
type SpendingTransaction = {
  readonly transaction: BitcoinTransaction
  /** Output that each input spends; `undefined` for that of a coinbase, a miner's reward. */
  readonly spent: readonly (BitcoinOutput | undefined)[]
}

/**
 * Sums what a transaction pays to each recipient of a payment: one sum per distinct recipient and currency. Only the
 * native currency exists. The payers are the owners of the spent outputs. Two kinds of transaction pay no order, so
 * that what they pay is `fromOthers`: withdrawals, in which a depository is a payer, and those in which the recipient
 * is a payer himself, because his own money cannot be told from that of the others.
 * @throws InvalidAddressError
 * @source rule P-108
 */
export function sumTransfers(
  { transaction: { outputs }, spent }: SpendingTransaction,
  targets: readonly { readonly recipient: string; readonly currency: string }[],
  { network, depositories }: BitcoinRules,
): readonly TransferFact[] {
  const codec = createBitcoinCodec(network)
  const payers = spent.map((output) => output && scriptAddress(output.script, network))
  const isWithdrawal = payers.some((payer) => payer !== undefined && depositories.includes(payer))
  const distinctTargets = new Map(
    targets.map((target) => {
      const recipient = codec.canonicalAddress(target.recipient)
      const currency = codec.canonicalAddress(target.currency)
      return [`${recipient} ${currency}`, { recipient, currency }]
    }),
  )
  return [...distinctTargets.values()].map(({ recipient, currency }) => {
    if (currency !== codec.nativeCurrency) return { recipient, currency, amount: 0n }
    const paid = outputs
      .filter(({ script }) => scriptAddress(script, network) === recipient)
      .reduce((sum, { value }) => sum + value, 0n)
    if (!isWithdrawal && !payers.includes(recipient)) return { recipient, currency, amount: paid }
    return { recipient, currency, amount: 0n, ...(paid > 0n && { fromOthers: paid }) }
  })
}
