// Goal: items that run side by side begin one chore of a name, not one each. Who gains by breaking it: whoever causes many
// items at once, whose wraps then take the coin that pays for gas.
import { expect, test } from 'vitest'
import type { ChainDesk } from './chainDesk.ts'
import { createAllowances, createInventory } from './inventory.ts'
import type { KeptRecord } from './signedRecord.ts'

const [address, wrapped, dollar] = [
  `0x${'aa'.repeat(20)}`,
  `0x${'bb'.repeat(20)}`,
  `0x${'cc'.repeat(20)}`,
] as const

/** A wallet that holds a thousand of each currency except wrapped coin, and has allowed nothing. */
function wallet() {
  const open: KeptRecord[] = []
  const begun: string[] = []
  const desk: Pick<ChainDesk, 'prepare' | 'chainId'> = {
    chainId: 10,
    prepare: async () => ({
      kind: 'ready',
      async begin({ id }) {
        const record: KeptRecord = {
          id,
          attempt: 0,
          kind: 'chore',
          chainId: 10,
          nonce: open.length,
          wallet: address,
          plan: { to: address, data: '0x', valueWei: 0n, gas: 1n },
          transactions: [],
          cancellations: [],
          payments: [],
          deposits: [],
          release: 'given',
          outcome: 'open',
          failureReported: false,
        }
        begun.push(id.replace(/-10-.*/, ''))
        open.push(record)
        return record
      },
    }),
  }
  const notAsked = () => {
    throw new Error('nothing else is asked of the chain')
  }
  const paying = {
    chainId: 10,
    address,
    fillContracts: notAsked,
    counts: async () => ({ latestCount: 0, finalCount: 0, chainTime: 0, finalBlock: 1n }),
    minedOf: notAsked,
    readFinal: notAsked,
    readFinalOf: notAsked,
    hasCode: notAsked,
    tryOut: notAsked,
    broadcast: notAsked,
    sign: notAsked,
    signCancellation: notAsked,
    balanceOf: async (currency: string) => (currency === wrapped ? 0n : 1_000n),
    allowanceFor: async () => 0n,
  }
  const chain = { chainId: 10, fillContract: address, wrappedNative: wrapped, floors: new Map() }
  return {
    begun,
    inventory: createInventory({ desk, paying }, chain, { active: async () => [...open] }),
    isAllowed: createAllowances({
      desk,
      paying: { missingAllowance: async () => ({ currency: dollar, spender: address, amount: 1n }) },
      open: async () => [...open],
    }),
  }
}

const eight = Array.from({ length: 8 })

test('P-53: eight items that lack wrapped coin begin one wrap', async () => {
  const { inventory, begun } = wallet()
  await Promise.all(eight.map(() => inventory.has(wrapped, 300n)))
  expect(begun).toEqual(['wrap'])
})

test('P-53: eight items that lack an allowance begin one approval', async () => {
  const { inventory, isAllowed, begun } = wallet()
  await Promise.all(eight.map(() => inventory.has(dollar, 1n)))
  expect(begun).toEqual([`approve-${dollar}`])
  await Promise.all(eight.map(() => isAllowed('other', 1n)))
  expect(begun).toEqual([`approve-${dollar}`, 'approve-other'])
})
