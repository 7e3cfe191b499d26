import { type BitcoinNetwork, InvalidAddressError } from '@causeway/core/encodings'
import type { SweptOutputs } from '../rules/paying/lineTransaction.ts'
import { dustOf } from '../rules/quoting/virtualSize.ts'
import { outputScript } from '../rules/script.ts'
import { satoshiMax } from '../rules/transaction.ts'
import type { LineWork } from './linePayingChain.ts'

/** The fill wallet's address, and the depositories, the primary one first. All in canonical spelling. */
type OwnAddresses = {
  readonly network: BitcoinNetwork
  readonly wallet: string
  readonly depositories: readonly string[]
}

/** Why a transaction for this work must not be signed; undefined if it may. Pure. */
export function refuseWork(work: LineWork, addresses: OwnAddresses): string | undefined {
  if (work.swept !== undefined) return refuseSweep(work, work.swept, addresses)
  for (const { recipient, amount } of work.payments) {
    const script = scriptOf(recipient, addresses.network)
    if (script === undefined) return 'nobody has the key of the recipient'
    if (recipient === addresses.wallet) return 'the recipient is the fill wallet'
    if (addresses.depositories.includes(recipient)) return 'the recipient is a depository'
    if (amount < dustOf(script) || amount > satoshiMax) return 'an amount is none of this chain'
  }
  return undefined
}

/**
 * A sweep pays all that it takes: to the depository for an order, otherwise back to the depositor, whom the solver has
 * checked by the address's terms. The wallet pays the fee.
 */
function refuseSweep(
  { payments, orderId }: LineWork,
  { outputs }: SweptOutputs,
  { network, depositories: [depository] }: OwnAddresses,
): string | undefined {
  const [payment, ...others] = payments
  const held = outputs.reduce((sum, { value }) => sum + value, 0n)
  if (held === 0n) return 'nothing lies at the address'
  if (payment === undefined || others.length > 0 || payment.amount !== held)
    return 'a sweep pays all that it takes'
  if (orderId !== undefined && payment.recipient !== depository) return 'an order is paid for elsewhere'
  const script = scriptOf(payment.recipient, network)
  return script === undefined ? 'nobody has the key of the recipient' : undefined
}

/** Script of a recipient; `undefined` for an address that nobody can spend from. */
function scriptOf(recipient: string, network: BitcoinNetwork): Uint8Array | undefined {
  try {
    return outputScript(recipient, network)
  } catch (error) {
    if (error instanceof InvalidAddressError) return undefined
    throw error
  }
}
