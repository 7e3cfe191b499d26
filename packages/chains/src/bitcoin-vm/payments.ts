import {
  type BitcoinNetwork,
  type BitcoinTransaction,
  createBitcoinCodec,
  type Hex,
  scriptAddress,
  type TransferFact,
} from '@causeway/core'
import { opReturnTexts } from './opReturn.ts'

/** Some OP_RETURN output must say the order id and nothing else. @source oracle-protocol.md 5.3 */
export function referencesOrder(transaction: BitcoinTransaction, orderId: Hex): boolean {
  const wanted = orderId.toLowerCase()
  return opReturnTexts(transaction).some(({ text }) => text.toLowerCase() === wanted)
}

/**
 * What the outputs pay to each recipient, once per recipient and currency however often it is asked for.
 * There is no other currency than the native one. @throws InvalidAddressError
 */
export function sumTransfers(
  { outputs }: BitcoinTransaction,
  targets: readonly { readonly recipient: string; readonly currency: string }[],
  network: BitcoinNetwork,
): readonly TransferFact[] {
  const codec = createBitcoinCodec(network)
  const asked = new Map(
    targets.map((target) => {
      const recipient = codec.canonicalAddress(target.recipient)
      const currency = codec.canonicalAddress(target.currency)
      return [`${recipient} ${currency}`, { recipient, currency }]
    }),
  )
  return [...asked.values()].map(({ recipient, currency }) => ({
    recipient,
    currency,
    amount:
      currency !== codec.nativeCurrency
        ? 0n
        : outputs
            .filter(({ script }) => scriptAddress(script, network) === recipient)
            .reduce((sum, { value }) => sum + value, 0n),
  }))
}
