import {
  DomainError,
  decodeOrderCall,
  encodeFillExtraData,
  type Hex,
  type NetworkOf,
  type Order,
  orderId,
  type RecoverSigner,
  signingDigest,
} from '@causeway/core'

/** What work says about its order; nothing of it is believed before it is judged. */
export type Proof = {
  readonly order: Order
  readonly orderSignature: string
  readonly deposits: readonly NamedDeposit[]
}

/** Where a deposit is said to be. */
export type NamedDeposit = {
  readonly chainId: number
  readonly transactionId: string
  /** Its place in the block, which tells deposits of one transaction apart. */
  readonly onchainIndex: string
}

export type OrderRules = {
  readonly networkOf: NetworkOf
  readonly recoverSigner: RecoverSigner
  /** Lower case; whose orders are paid. */
  readonly orderSigners: ReadonlySet<string>
}

/** What is asked for, in the order's own terms. */
export type AskedFill = {
  readonly orderId: Hex
  /** String id of the chain that pays. */
  readonly chainKey: string
  readonly fillContract: Hex
  readonly deadline: number
  readonly payments: readonly {
    readonly recipient: Hex
    readonly currency: Hex
    readonly amount: bigint
  }[]
  readonly calls: readonly { readonly to: Hex; readonly data: Hex; readonly value: bigint }[]
}

/**
 * Why an order is not one to act on: its hash is another id, or nobody who is trusted signed it.
 * @returns undefined where it is
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

/** Why a fill is not the one that its order asks for; undefined where it is. */
export function refuseTerms(asked: AskedFill, { output }: Order): string | undefined {
  if (output.chainId !== asked.chainKey) return 'the order is paid on another chain'
  if (output.deadline !== asked.deadline) return 'the deadline is not that of the order'
  if (output.extraData !== encodeFillExtraData(asked.fillContract))
    return 'the order names another fill contract'
  if (!paysAsOrdered(asked, output)) return 'the payments are not those of the order'
  return callsAsOrdered(asked, output) ? undefined : 'the calls are not those of the order'
}

/** Each payment in its place, not less than the least and not more than what was quoted. */
function paysAsOrdered({ payments }: AskedFill, output: Order['output']): boolean {
  return (
    payments.length === output.payments.length &&
    output.payments.every((ordered, index) => {
      const paid = payments[index]
      return (
        paid !== undefined &&
        paid.recipient.toLowerCase() === ordered.recipient.toLowerCase() &&
        paid.currency.toLowerCase() === ordered.currency.toLowerCase() &&
        paid.amount >= BigInt(ordered.minimumAmount) &&
        paid.amount <= BigInt(ordered.expectedAmount)
      )
    })
  )
}

function callsAsOrdered({ calls }: AskedFill, output: Order['output']): boolean {
  try {
    const ordered = output.calls.map(decodeOrderCall)
    return (
      calls.length === ordered.length &&
      ordered.every((call, index) => {
        const asked = calls[index]
        return (
          asked !== undefined &&
          asked.to.toLowerCase() === call.to &&
          asked.data.toLowerCase() === call.data &&
          asked.value === call.value
        )
      })
    )
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}
