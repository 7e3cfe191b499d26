import { randomBytes } from 'node:crypto'
import { encodeFill, type Fill, type FillCall, type OrderCalls } from '@causeway/contracts'
import { bytesToHex, type Hex } from '@causeway/core'
import { orderCloneAddress } from '@causeway/families/rules'

export { recordsPayments } from '@causeway/contracts/codes'

/** Unix seconds that no local chain reaches. */
const neverSeconds = 2n ** 40n

/** Calldata of a fill for tests: recorded under the order's id and in time, unless a test says otherwise. */
export function testFill(fill: Partial<Fill> & { readonly orderId: Hex }): Hex {
  return encodeFill({ id: fill.orderId, deadlineSeconds: neverSeconds, ...fill })
}

/** Calls of an order, and the clone that runs them: a fill has to pay there what the calls spend. */
export function testCalls(
  calls: readonly FillCall[],
  order: {
    readonly fillContract: Hex
    readonly filler: Hex
    readonly recipient: Hex
    readonly sweptTokens?: readonly Hex[]
    readonly orderSalt?: Hex
  },
): { readonly orderCalls: OrderCalls; readonly clone: Hex } {
  const { recipient, sweptTokens = [], orderSalt = randomWord() } = order
  const clone = orderCloneAddress({ ...order, orderSalt, calls })
  return { orderCalls: { orderSalt, recipient, sweptTokens, calls }, clone }
}

/** 32 random bytes: an id or a salt that nobody else uses. */
export function randomWord(): Hex {
  return bytesToHex(randomBytes(32))
}
