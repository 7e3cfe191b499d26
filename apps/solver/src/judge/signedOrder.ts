import {
  DomainError,
  decodeOrderCall,
  encodeFillExtraData,
  type Hex,
  isAnyCaseHex32,
  type NetworkOf,
  type Order,
  orderId,
  type RecoverSigner,
} from '@causeway/core'
import { orderCloneAddress, signingDigest } from '@causeway/families/rules'

/** The order that a work item names as its reason, not verified yet: `refuseOrder` does that. */
export type Proof = {
  readonly order: Order
  readonly orderSignature: string
  readonly deposits: readonly DepositPosition[]
}

/** Position of a deposit on its chain, as a work item names it. */
export type DepositPosition = {
  readonly chainId: number
  readonly transactionId: string
  /** Tells deposits of one transaction apart; each family has its own. */
  readonly onchainIndex: string
}

export type OrderRules = {
  readonly networkOf: NetworkOf
  readonly recoverSigner: RecoverSigner
  /** Lower-case addresses of the signers whose orders are paid. */
  readonly orderSigners: ReadonlySet<string>
}

/** Payment that a work item asks for, to be compared with its order by `refuseTerms`. */
export type FillRequest = {
  readonly orderId: Hex
  /** String id of the chain that pays. */
  readonly chainKey: string
  /** Absent on chains that have none. */
  readonly fillContract?: Hex | undefined
  /** Unix seconds. */
  readonly deadline: number
  readonly payments: readonly {
    readonly recipient: string
    readonly currency: string
    readonly amount: bigint
  }[]
  readonly calls: readonly { readonly to: Hex; readonly data: Hex; readonly value: bigint }[]
  /** Receives what the calls leave over; present with calls alone. */
  readonly recipient?: Hex | undefined
}

/** Calls of an order, and the account that would run them. */
export type CallsRequest = Pick<FillRequest, 'fillContract' | 'calls' | 'recipient'> & {
  /** Fill wallet that would pay the order, on the paying chain. */
  readonly filler: string
}

/**
 * Reason to refuse an order: its hash is another id, or its signer is not trusted.
 * @returns undefined for an acceptable order
 */
export function refuseOrder(id: Hex, proof: Proof, rules: OrderRules): string | undefined {
  const { order, orderSignature } = proof
  const hash = hashOf(order, rules.networkOf)
  if (hash !== id) return 'the order has another id'
  const signer = rules.recoverSigner(signingDigest({ purpose: 'order', orderId: hash }), orderSignature)
  if (signer === undefined || signer !== order.solver.toLowerCase()) return 'the order is not signed'
  if (!rules.orderSigners.has(signer)) return 'the order is signed by somebody else'
  return order.inputs.length === 1 ? undefined : 'the order has more than one input'
}

function hashOf(order: Order, networkOf: NetworkOf): Hex | undefined {
  try {
    return orderId(order, networkOf)
  } catch (error) {
    if (error instanceof DomainError || error instanceof RangeError) return undefined
    throw error
  }
}

/**
 * Address of the clone that runs an order's calls when `filler` fills it.
 * @returns undefined without fill contract or recipient, and for a filler or salt that no such address has
 */
export function cloneOf(
  { fillContract, filler, recipient, calls }: CallsRequest,
  { salt }: Pick<Order, 'salt'>,
): { readonly address: Hex; readonly orderSalt: Hex; readonly recipient: Hex } | undefined {
  if (recipient === undefined || fillContract === undefined || !isHexAddress(filler)) return undefined
  if (!isAnyCaseHex32(salt)) return undefined
  // CAST: 32 bytes of hex, as was just seen.
  const orderSalt = salt.toLowerCase() as Hex
  const address = orderCloneAddress({ fillContract, filler, orderSalt, recipient, calls })
  return { address, orderSalt, recipient }
}

/** Reason that a fill differs from its order; undefined if it does not. */
export function refuseTerms(
  fill: FillRequest & { readonly filler: string },
  order: Order,
): string | undefined {
  const { output } = order
  if (output.chainId !== fill.chainKey) return 'the order is paid on another chain'
  if (output.deadline !== fill.deadline) return 'the deadline is not that of the order'
  const { fillContract } = fill
  if (output.extraData !== (fillContract === undefined ? '0x' : encodeFillExtraData(fillContract)))
    return 'the order names another fill contract'
  if (fillContract === undefined && output.calls.length + fill.calls.length > 0)
    return 'calls are not run on this chain'
  if (!paysAsOrdered(fill, output)) return 'the payments are not those of the order'
  if (!callsAsOrdered(fill, output)) return 'the calls are not those of the order'
  if (fill.calls.length === 0) return undefined
  const [first] = fill.payments
  return first !== undefined && cloneOf(fill, order)?.address === first.recipient.toLowerCase()
    ? undefined
    : 'the calls would run elsewhere than the order pays'
}

const isHexAddress = (text: string): text is Hex => /^0x[0-9a-f]{40}$/i.test(text)

/** Hex has two cases for one value; in every other spelling the case tells addresses apart. */
export const isSameSpelling = (one: string, other: string): boolean =>
  one === other || (/^0x/i.test(one) && one.toLowerCase() === other.toLowerCase())

/** True if the payments are the order's, in its order, each between its minimum and its expected amount. */
function paysAsOrdered({ payments }: FillRequest, output: Order['output']): boolean {
  return (
    payments.length === output.payments.length &&
    output.payments.every((ordered, index) => {
      const paid = payments[index]
      return (
        paid !== undefined &&
        isSameSpelling(paid.recipient, ordered.recipient) &&
        isSameSpelling(paid.currency, ordered.currency) &&
        paid.amount >= BigInt(ordered.minimumAmount) &&
        paid.amount <= BigInt(ordered.expectedAmount)
      )
    })
  )
}

function callsAsOrdered({ calls }: FillRequest, output: Order['output']): boolean {
  try {
    const ordered = output.calls.map(decodeOrderCall)
    return (
      calls.length === ordered.length &&
      ordered.every((call, index) => {
        const requestedCall = calls[index]
        return (
          requestedCall !== undefined &&
          requestedCall.to.toLowerCase() === call.to &&
          requestedCall.data.toLowerCase() === call.data &&
          requestedCall.value === call.value
        )
      })
    )
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}
