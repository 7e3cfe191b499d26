// Goal: an operator's check tells the age of each feed, by the clock of its chain and the rule of prices.
// Method: a chain that answers one multicall, encoded by viem, an independent implementation.
import type { JsonRpcClient } from '@causeway/rpc'
import { decodeFunctionData, encodeFunctionResult, type Hex, parseAbi } from 'viem'
import { describe, expect, test } from 'vitest'
import { blockHash, ethFeed, quoteFile, usdcFeed } from '../../test/support/fixtures.ts'
import { createScriptedClient } from '../../test/support/scriptedClient.ts'
import { readFeedAges } from './feedAges.ts'

const multicall3 = '0xca11bde05977b3631167028862be2a173976ca11'
const abi = parseAbi([
  'struct Call3 { address target; bool allowFailure; bytes callData; }',
  'struct Result { bool success; bytes returnData; }',
  'function aggregate3(Call3[] calls) payable returns (Result[] returnData)',
])
const feedAbi = parseAbi([
  'function latestRoundData() view returns (uint80, int256, uint256, uint256, uint80)',
  'function description() view returns (string)',
  'function decimals() view returns (uint8)',
])
const headSeconds = 1_800_000_000
const feeds = quoteFile().prices.flatMap((price) => price.feeds)

/** Last round of a feed; without an age the feed reverts. */
type Round = { readonly answer?: bigint; readonly ageSeconds?: number }

/** Chain whose block 291 is the newest, where each feed has a round. */
function chainWith(rounds: Readonly<Record<string, Round>>): JsonRpcClient {
  return {
    ...createScriptedClient(() => new Error('one endpoint is enough for a check')),
    async request({ method, params }) {
      if (method === 'eth_getBlockByNumber') {
        const hashes = { hash: blockHash(3), parentHash: blockHash(2) }
        return { number: '0x123', ...hashes, timestamp: `0x${headSeconds.toString(16)}` }
      }
      expect([method, params[1]]).toEqual(['eth_call', '0x123'])
      // CAST: the first parameter of `eth_call` is the transaction.
      const { data } = params[0] as { data: Hex }
      const { args } = decodeFunctionData({ abi, data })
      const result = args[0].map((call) => answerOf(call, rounds[call.target.toLowerCase()] ?? {}))
      return encodeFunctionResult({ abi, functionName: 'aggregate3', result })
    },
  }
}

function answerOf({ callData }: { readonly callData: Hex }, { answer = 10n ** 8n, ageSeconds }: Round) {
  const { functionName } = decodeFunctionData({ abi: feedAbi, data: callData })
  if (functionName !== 'latestRoundData' || ageSeconds === undefined)
    return { success: false, returnData: '0x' as const }
  const result = [1n, answer, 1n, BigInt(headSeconds - ageSeconds), 1n] as const
  return { success: true, returnData: encodeFunctionResult({ abi: feedAbi, functionName, result }) }
}

describe('readFeedAges', () => {
  test.each<[string, Round, { readonly ageSeconds: number | undefined; readonly isFresh: boolean }]>([
    ['young', { ageSeconds: 10 }, { ageSeconds: 10, isFresh: true }],
    ['in its last second', { ageSeconds: 3_660 }, { ageSeconds: 3_660, isFresh: true }],
    ['past its heartbeat and grace', { ageSeconds: 3_661 }, { ageSeconds: 3_661, isFresh: false }],
    ['no price', { answer: 0n, ageSeconds: 10 }, { ageSeconds: undefined, isFresh: false }],
    ['of a later time than its block', { ageSeconds: -1 }, { ageSeconds: undefined, isFresh: false }],
    ['missing', {}, { ageSeconds: undefined, isFresh: false }],
  ])('tells of each feed its own age: an answer that is %s', async (_name, round, told) => {
    const client = chainWith({ [ethFeed]: round, [usdcFeed]: { ageSeconds: 40 } })
    expect(await readFeedAges(client, { multicall3, feeds })).toEqual([
      { address: ethFeed, ...told },
      { address: usdcFeed, ageSeconds: 40, isFresh: true },
    ])
  })
})
