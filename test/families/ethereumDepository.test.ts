// Goal: what only `ethereum-vm` networks have changes nothing about deposits and withdrawals: a zkSync stack's system token,
// finality by tag and age, and nodes that keep little. Method: the depository on a real node, through nodes that lie.
import type { Hex } from '@causeway/core'
import { encodeTransfer } from '@causeway/families/rules'
import { type FaultMode, nodePersonalities } from '@causeway/localnet'
import { toQuantity } from '@causeway/rpc'
import { concatHex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bundle, type DepositoryNetwork, zeroId } from '../readerSupport/depository/depositoryNetwork.ts'
import { execute, fund, requestOf, statusOf } from '../readerSupport/depository/describeWithdrawals.ts'
import { aSignal, proxiesOf, readerOf } from './ethereumSupport/chainBed.ts'
import { startEthereumDepository } from './ethereumSupport/depository.ts'
import { emit, logEmitterCode, word } from './ethereumSupport/logEmitter.ts'

const someone: Hex = `0x${'11'.repeat(20)}`
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

let network: DepositoryNetwork
beforeAll(async () => {
  network = await startEthereumDepository()
  await fund(network)
  const { multicall3, tokens } = network.evm.deployment
  await network.send(tokens.USDC, encodeTransfer(multicall3, 1_000n))
})
afterAll(() => network?.stop())

test('on a zkSync stack the system token is no deposit, and still counts as a transfer', async () => {
  const { evm } = network
  const { depository, tokens } = evm.deployment
  const system: Hex = `0x${'0'.repeat(36)}800a`
  await evm.node('anvil_setCode', [system, logEmitterCode])
  const topics = [transferTopic, `0x${word(someone)}`, `0x${word(depository)}`] as const
  const { transactionId } = await bundle(network, [
    { target: system, callData: emit({ topics, data: `0x${word(4n)}` }) },
    {
      target: tokens.USDC,
      callData: concatHex([encodeTransfer(depository, 4n), `0x${'ab'.repeat(32)}`]),
    },
  ])
  await evm.mine(2)
  const depositsBy = async (additionalData: { readonly isZksyncStack?: boolean }) => {
    const { reader } = readerOf(evm, { additionalData })
    return (await reader.readDeposits({ transactionId }, aSignal())).deposits
  }
  expect((await depositsBy({})).map(({ currency }) => currency)).toEqual([system, tokens.USDC])
  expect(await depositsBy({ isZksyncStack: true })).toMatchObject([
    { currency: tokens.USDC, depositId: zeroId },
  ])
})

test.each([
  ['tag', { mode: 'tag' }],
  ['time', { mode: 'time', seconds: 30 }],
  ['depth and time', { mode: 'depth-and-time', blocks: 0, seconds: 30 }],
] as const)('F-125: finality by %s decides about withdrawals as well', async (_name, finality) => {
  const { chain, mine } = network.evm
  const request = requestOf()
  const { transactionId } = await execute(network, request)
  expect((await statusOf(network, request, { transactionId, finality })).status).toBe('pending')
  const { timestamp } = await chain.client.getBlock()
  await chain.node.setNextBlockTimestamp({ timestamp: timestamp + 40n })
  await mine(3)
  expect(await statusOf(network, request, { transactionId, finality })).toMatchObject({
    status: 'executed',
    executingTransactionId: transactionId,
  })
})

test('F-125: a withdrawal is read however many blocks the seconds of finality last', async () => {
  const request = requestOf()
  const { transactionId } = await execute(network, request)
  const urls = await urlOf(withBlocksAbove(await network.evm.chain.client.getBlock(), 7_000n))
  const finality = { mode: 'time', seconds: 7_000 } as const
  expect(await statusOf(network, request, { transactionId, finality, urls })).toMatchObject({
    status: 'executed',
    executingTransactionId: transactionId,
  })
})

test('F-125: where nodes have pruned the final block, a transaction in it proves the withdrawal', async () => {
  const [request, unused] = [requestOf(), requestOf()]
  const { transactionId } = await execute(network, request)
  await network.evm.node('anvil_mine', ['0x96', '0x1'])
  const urls = await urlOf({ kind: 'hosted', personality: nodePersonalities.pruned })
  const settings = { finality: { mode: 'depth-and-time', blocks: 2, seconds: 149 }, urls } as const
  expect(await statusOf(network, request, { transactionId, ...settings })).toMatchObject({
    status: 'executed',
    executingTransactionId: transactionId,
  })
  await expect(statusOf(network, request, settings)).rejects.toMatchObject({ code: 'RPC_HTTP_ERROR' })
  expect(await statusOf(network, unused, settings)).toMatchObject({ status: 'pending' })
})

/** The node behind a proxy with a fault. */
async function urlOf(fault: FaultMode): Promise<readonly string[]> {
  const [proxy] = await proxiesOf(network.evm, 1)
  await proxy?.set(fault)
  return [proxy?.url ?? '']
}

/** Shows so many more blocks above the head, one each second. */
function withBlocksAbove(
  head: { readonly number: bigint; readonly timestamp: bigint; readonly hash: Hex },
  more: bigint,
): FaultMode {
  return {
    kind: 'lie',
    rewrite({ method, params: [height] }, truth) {
      if (method !== 'eth_getBlockByNumber') return truth
      const number = height === 'latest' ? head.number + more : BigInt(String(height))
      if (number <= head.number) return truth
      const timestamp = head.timestamp + number - head.number
      return { number: toQuantity(number), timestamp: toQuantity(timestamp), hash: head.hash }
    },
  }
}
