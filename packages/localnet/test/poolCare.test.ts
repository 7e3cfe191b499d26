// Goal: a transaction that the node's pool forgot is mined all the same, and one that rightly waits for an
// earlier nonce stays. Method: a real node, whose account is moved on under a waiting transaction.
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../src/nodes/anvil.ts'
import { askNode } from '../src/nodes/askNode.ts'
import { connectLocalChain, type LocalChain } from '../src/nodes/localChain.ts'

const chainId = 8453
let node: Anvil
let chain: LocalChain

beforeAll(async () => {
  node = await startAnvil({ chainId })
  chain = connectLocalChain(node.url, chainId)
})
afterAll(() => node.stop())

/** Signs for a funded account of its own and sends without waiting. */
async function queue(nonces: readonly number[]) {
  const account = privateKeyToAccount(generatePrivateKey())
  await chain.node.setBalance({ address: account.address, value: 10n ** 18n })
  const raws = await Promise.all(
    nonces.map((nonce) =>
      account.signTransaction({
        type: 'eip1559',
        chainId,
        nonce,
        to: account.address,
        gas: 21_000n,
        maxFeePerGas: 10n ** 10n,
        maxPriorityFeePerGas: 0n,
      }),
    ),
  )
  const hashes = await Promise.all(
    raws.map((serializedTransaction) => chain.client.sendRawTransaction({ serializedTransaction })),
  )
  return { address: account.address, hashes }
}

test('transactions whose turn has passed them by are mined', async () => {
  const { address, hashes } = await queue([3, 4, 5])
  expect(await askNode(node.url, 'txpool_status', [])).toEqual({ pending: '0x0', queued: '0x3' })
  await chain.node.setNonce({ address, nonce: 3 })
  for (const hash of hashes) {
    expect(await chain.client.waitForTransactionReceipt({ hash })).toMatchObject({ status: 'success' })
  }
  expect(await chain.client.getTransactionCount({ address })).toBe(6)
})

test('a transaction that waits for an earlier one stays in the queue', async () => {
  const waiting = await queue([1])
  const stuck = await queue([1])
  await chain.node.setNonce({ address: stuck.address, nonce: 1 })
  await chain.client.waitForTransactionReceipt({ hash: stuck.hashes[0] ?? '0x' })
  expect(await chain.client.getTransactionCount({ address: waiting.address })).toBe(0)
  expect(await askNode(node.url, 'txpool_status', [])).toEqual({ pending: '0x0', queued: '0x1' })
})
