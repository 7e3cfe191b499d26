// Goal: what a transaction cost is gas and data fee, and nothing is made up where a node does not know.
import { expect, test } from 'vitest'
import { readFee } from './readFee.ts'

const hash = `0x${'ab'.repeat(32)}`
const receipt = { transactionHash: hash, gasUsed: '0x5208', effectiveGasPrice: '0x3b9aca00' }
const read = (answer: unknown) => readFee({ request: async () => answer }, hash, new AbortController().signal)

test('gas at its price', async () => {
  expect(await read(receipt)).toBe(21_000_000_000_000n)
  expect(await read({ ...receipt, l1Fee: null })).toBe(21_000_000_000_000n)
})

test('with the data fee of a rollup', async () => {
  expect(await read({ ...receipt, l1Fee: '0x64' })).toBe(21_000_000_000_100n)
})

test('unknown while the node has no receipt', async () => {
  expect(await read(null)).toBeUndefined()
})

test.each([
  ['no object', 'receipt'],
  ['another transaction', { ...receipt, transactionHash: `0x${'cd'.repeat(32)}` }],
  ['no gas', { ...receipt, gasUsed: undefined }],
  ['a price that is none', { ...receipt, effectiveGasPrice: '12' }],
  ['a fee that is none', { ...receipt, l1Fee: -1 }],
])('%s is refused', async (_what, answer) => {
  await expect(read(answer)).rejects.toThrow()
})
