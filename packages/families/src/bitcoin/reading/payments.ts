import { type Hex, namedOrder, type TransferFact } from '@causeway/core'
import { createBitcoinCodec } from '@causeway/core/encodings'
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
  /** Output that each input spends; `undefined` for the input of a coinbase. */
  readonly spent: readonly (BitcoinOutput | undefined)[]
}

/**
 * Sums of the outputs by recipient, one per recipient and currency however often it is asked for. Only the native
 * currency exists. The owners of the inputs are the payers. Outputs that a depository spends are a withdrawal, and
 * outputs that the recipient spends together with others are a trade: neither pays an order.
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
