// Goal: for random orders over all six families the id equals viem's struct hash of the same bytes,
// and an order that the schema lets in makes nothing but domain errors.
import fc from 'fast-check'
import { hashStruct } from 'viem'
import { expect, test } from 'vitest'
import { orders, randomNetworkOf } from '../../test/arbitraries/orders.ts'
import { orderTypedData } from '../../test/vectors/orderTypedData.ts'
import { DomainError } from '../errors.ts'
import { createOrderIdHasher, orderId } from './orderId.ts'
import { orderSchema } from './orderSchema.ts'

test("orderId is viem's hashStruct of the encoded order", () => {
  fc.assert(
    fc.property(orders, ({ order, message }) => {
      const expected = hashStruct({ data: message, primaryType: 'Order', types: orderTypedData })
      expect(orderId(order, randomNetworkOf)).toBe(expected)
    }),
    { numRuns: 300 },
  )
})

// Adversary: a stranger whose account, currency or data changes the id of another user's order.
test('a hasher that keeps what it learnt gives every order the id of a new one', () => {
  const hasher = createOrderIdHasher(randomNetworkOf)
  fc.assert(
    fc.property(fc.array(orders, { minLength: 2, maxLength: 8 }), fc.nat(), (many, pick) => {
      for (const { order } of many) expect(hasher(order)).toBe(orderId(order, randomNetworkOf))
      // The texts of one order in the places of another.
      const [first, second] = [many[0]?.order, many[1]?.order]
      if (first === undefined || second === undefined) return
      const mixed =
        pick % 2 === 0
          ? { ...first, inputs: second.inputs, fees: second.fees }
          : { ...first, output: { ...second.output, extraData: first.output.extraData } }
      const fresh = idOrError(() => orderId(mixed, randomNetworkOf))
      for (const _ of [1, 2]) expect(idOrError(() => hasher(mixed))).toBe(fresh)
    }),
  )
})

test('it gives the same ids where it lets go of what it kept', () => {
  const hasher = createOrderIdHasher(randomNetworkOf)
  const order = fc.sample(
    orders.filter(
      ({ order: { output } }) =>
        output.payments.length > 0 && randomNetworkOf(output.chainId)?.vmType === 'ethereum-vm',
    ),
    { numRuns: 1, seed: 7 },
  )[0]?.order
  const [payment] = order?.output.payments ?? []
  if (order === undefined || payment === undefined) throw new Error('it pays on an EVM chain')
  for (let account = 0; account < 4_500; account += 1) {
    const recipient = `0x${account.toString(16).padStart(40, '0')}`
    const one = { ...order, output: { ...order.output, payments: [{ ...payment, recipient }] } }
    if (account % 500 === 0) expect(hasher(one)).toBe(orderId(one, randomNetworkOf))
    else hasher(one)
  }
})

function idOrError(find: () => string): string {
  try {
    return find()
  } catch (error) {
    if (error instanceof DomainError) return error.message
    throw error
  }
}

test('an order survives the schema unchanged, with its id', () => {
  fc.assert(
    fc.property(orders, ({ order }) => {
      const parsed = orderSchema.parse(JSON.parse(JSON.stringify({ ...order, unknown: 1 })))
      expect(parsed).toEqual(order)
      expect(orderId(parsed, randomNetworkOf)).toBe(orderId(order, randomNetworkOf))
    }),
  )
})

test('whatever passes the schema gets an id or a domain error', () => {
  const strange = fc.oneof(
    fc.string(),
    fc.constantFrom('0', '00', '1'.repeat(78), '0x', '-0', '1e5', ' 1', 1, null),
  )
  fc.assert(
    fc.property(orders, strange, strange, fc.nat(), ({ order }, value, otherValue, pick) => {
      const mutated = JSON.stringify(order, (key, kept) => {
        if (key === 'amount' && pick % 2 === 0) return value
        if (key === 'recipient' && pick % 3 === 0) return otherValue
        if (key === 'salt' && pick % 5 === 0) return value
        if (key === 'chainId' && pick % 7 === 0) return otherValue
        return kept
      })
      const parsed = orderSchema.safeParse(JSON.parse(mutated))
      if (!parsed.success) return
      try {
        expect(orderId(parsed.data, randomNetworkOf)).toMatch(/^0x[0-9a-f]{64}$/)
      } catch (error) {
        expect(error).toBeInstanceOf(DomainError)
      }
    }),
    { numRuns: 1_000 },
  )
})
