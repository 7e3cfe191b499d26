// The depository of a withdrawal request, rule P-113: a withdrawal takes from one that its chain has.
import { mainNetwork } from '@causeway/core/encodings'
import { describe, expect, test } from 'vitest'
import { repeated } from '../../../../packages/core/test/vectors/orders.ts'
import { depository, otherDepository } from '../../test/fixtures/world.ts'
import type { AttestedChain } from './context.ts'
import { requestedDepository } from './depositories.ts'

const base: AttestedChain = { id: 'base', ...mainNetwork('ethereum-vm'), hubChainId: '8453' }
const upper = (address: string) => `0x${address.slice(2).toUpperCase()}`
const foreign = repeated('66', 20)
const refusal = (chain: AttestedChain, requested?: string) => {
  try {
    return requestedDepository(chain, requested)
  } catch (error) {
    return error
  }
}
const notConfigured = { code: 'DEPOSITORY_NOT_CONFIGURED', data: { chainId: 'base' } }

describe('a chain with a depository', () => {
  const chain = { ...base, depository: upper(depository) }

  test('withdraws from it in canonical spelling, where a request names none or this one', () => {
    for (const requested of [undefined, depository, upper(depository)])
      expect(requestedDepository(chain, requested)).toBe(depository)
  })

  test('has no other', () => {
    expect(refusal(chain, foreign)).toMatchObject(notConfigured)
  })

  test('cannot be asked for what is no address', () => {
    expect(refusal(chain, 'the depository')).toMatchObject({ code: 'INVALID_ADDRESS' })
  })
})

test('additional depositories are withdrawn from where a request names them', () => {
  const chain = { ...base, depository, additionalDepositories: [foreign, upper(otherDepository)] }
  expect(requestedDepository(chain, otherDepository)).toBe(otherDepository)
  expect(requestedDepository(chain, undefined)).toBe(depository)
  expect(refusal(chain, repeated('67', 20))).toMatchObject(notConfigured)
})

test('a chain without a depository has none to withdraw from, whatever is named', () => {
  expect(refusal(base)).toMatchObject(notConfigured)
  expect(refusal(base, depository)).toMatchObject(notConfigured)
})
