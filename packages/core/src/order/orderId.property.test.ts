// Goal: for random orders over all six families the id equals viem's struct hash of the same bytes,
// and an order that the schema lets in makes nothing but domain errors.
import fc from 'fast-check'
import { hashStruct } from 'viem'
import { expect, test } from 'vitest'
import { orders, randomNetworkOf } from '../../test/arbitraries/orders.ts'
import { orderTypedData } from '../../test/vectors/orderTypedData.ts'
import { DomainError } from '../errors.ts'
import { orderId } from './orderId.ts'
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
