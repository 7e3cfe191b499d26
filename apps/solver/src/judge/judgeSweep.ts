import type { Hex, Order } from '@causeway/core'
import { InvalidAddressError } from '@causeway/core/encodings'
import type { LinePayingChain } from '@causeway/families'
import type { DepositAddressTerms } from '@causeway/families/rules'
import { type OrderRules, refuseOrder } from './signedOrder.ts'

/** Unverified work that asks to empty an address that is a script. */
export type SweepRequest = {
  readonly depositAddress: string
  readonly terms: DepositAddressTerms
  readonly order: Order
  readonly orderSignature: string
  readonly orderId: Hex
  /** True: the money goes back to the depositor; false: into the depository, for the order. */
  readonly goesBack: boolean
}

/** Destination of the money at a deposit address, and the script that spends it. */
type JudgedSweep =
  | {
      readonly kind: 'take'
      readonly recipient: string
      /** Named by the transaction; undefined where it goes back. */
      readonly orderId: Hex | undefined
      readonly script: Hex
    }
  | { readonly kind: 'refuse'; readonly reason: string }

const refuse = (reason: string): JudgedSweep => ({ kind: 'refuse', reason })

/**
 * Verdict on emptying a script address. Contracts enforce this in other families: the money goes to its depositor, or
 * into the depository for an order that a trusted signer made for exactly this address and that refunds its depositor.
 * @param chain.key as orders name the chain
 */
export function judgeSweep(
  { depositAddress, terms, order, orderSignature, orderId, goesBack }: SweepRequest,
  chain: {
    readonly key: string
    readonly sweeping: Pick<LinePayingChain, 'publicKey' | 'depository' | 'depositAddress'>
    readonly orders: OrderRules
  },
): JudgedSweep {
  const { publicKey, depository } = chain.sweeping
  const derivedAddress = deriveAddress(terms, chain.sweeping)
  if (derivedAddress === undefined || derivedAddress.address !== depositAddress)
    return refuse('the address has other terms')
  if (terms.sweeper !== publicKey) return refuse('another wallet empties the address')
  const { script } = derivedAddress
  if (goesBack) return { kind: 'take', recipient: terms.depositor, orderId: undefined, script }
  if (depository === undefined) return refuse('the chain has no depository')
  // `refuseOrder` reads no deposits.
  const forged = refuseOrder(orderId, { order, orderSignature, deposits: [] }, chain.orders)
  if (forged !== undefined) return refuse(forged)
  // The salt of an order for a deposit address begins with the address's name.
  if (order.salt.slice(0, derivedAddress.name.length).toLowerCase() !== derivedAddress.name)
    return refuse('the order is for another address')
  const [input] = order.inputs
  if (input?.payment.chainId !== chain.key) return refuse('the order is paid for on another chain')
  if (input.refunds.some(({ recipient }) => recipient !== terms.depositor))
    return refuse('the order refunds somebody else')
  return { kind: 'take', recipient: depository, orderId, script }
}

/** Undefined where no address has these terms. */
function deriveAddress(
  terms: DepositAddressTerms,
  chain: Pick<LinePayingChain, 'depositAddress'>,
): ReturnType<LinePayingChain['depositAddress']> | undefined {
  try {
    return chain.depositAddress(terms)
  } catch (error) {
    if (error instanceof InvalidAddressError) return undefined
    throw error
  }
}
