// Goal: a chain is read once per head, all at its hash, and nothing half-read gets out.
// Method: a client whose answers are encoded by viem; the same against a real node is in test/market.test.ts.
import type { PoolMirror } from '@causeway/families'
import type { RpcAnswer, RpcCall } from '@causeway/rpc'
import { decodeFunctionData, encodeFunctionResult, type Hex, parseAbi } from 'viem'
import { describe, expect, test } from 'vitest'
import {
  blockHash,
  ethFeed,
  evmFees,
  native,
  poolAt,
  quoteFile,
  usdc,
  usdcFeed,
} from '../../test/support/fixtures.ts'
import { createScriptedClient } from '../../test/support/scriptedClient.ts'
import { type ChainPlan, planMarket } from '../plan.ts'
import { createChainSource } from './chainSource.ts'

const multicallAbi = parseAbi([
  'struct Call3 { address target; bool allowFailure; bytes callData; }',
  'struct Result { bool success; bytes returnData; }',
  'function aggregate3(Call3[] calls) payable returns (Result[] returnData)',
])
const contractAbi = parseAbi([
  'function getEthBalance(address) view returns (uint256)',
  'function balanceOf(address) view returns (uint256)',
  'function latestRoundData() view returns (uint80, int256, uint256, uint256, uint80)',
  'function description() view returns (string)',
  'function decimals() view returns (uint8)',
  'function getL1Fee(bytes) view returns (uint256)',
  'function getOperatorFee(uint256) view returns (uint256)',
])
type ContractFunction = (typeof contractAbi)[number]['name']

const fillWallet = '0x00000000000000000000000000000000000000f3'
const signal = new AbortController().signal
const quantity = (value: number | bigint) => `0x${value.toString(16)}`

type Script = {
  number?: number
  hash?: Hex
  parentHash?: Hex
  baseFees?: readonly bigint[]
  answers?: Partial<Record<ContractFunction, unknown>>
  failing?: ContractFunction
  override?: (call: RpcCall) => RpcAnswer | Error | undefined
}

function answerer(script: Script) {
  return (call: RpcCall): RpcAnswer | Error => {
    const overridden = script.override?.(call)
    if (overridden !== undefined) return overridden
    return { ok: true, result: resultOf(call, script) }
  }
}

function resultOf({ method, params }: RpcCall, script: Script): unknown {
  const named = method === 'eth_getBlockByNumber' && params[0] !== 'latest' ? Number(params[0]) : undefined
  const {
    number = named ?? 100,
    hash = blockHash(number),
    parentHash = blockHash(number - 1),
  } = named === undefined ? script : {}
  const { baseFees = [1_000n, 1_100n, 1_200n] } = script
  switch (method) {
    case 'eth_getBlockByNumber':
      return { number: quantity(number), hash, parentHash, timestamp: quantity(1_800_000_000) }
    case 'eth_feeHistory':
      return {
        oldestBlock: quantity(1),
        baseFeePerGas: baseFees.map(quantity),
        gasUsedRatio: baseFees.slice(1).map(() => 0.5),
        reward: baseFees.slice(1).map(() => ['0x5']),
      }
    default: {
      // CAST: the only other call is `eth_call`, whose first parameter is the transaction.
      const [{ data }] = params as [{ data: Hex }]
      return aggregate(data, script)
    }
  }
}

function aggregate(data: Hex, script: Script): Hex {
  const { args } = decodeFunctionData({ abi: multicallAbi, data })
  const result = args[0].map(({ callData }) => {
    const { functionName } = decodeFunctionData({ abi: contractAbi, data: callData })
    if (functionName === script.failing) return { success: false, returnData: '0x' as const }
    const defaults: Record<ContractFunction, unknown> = {
      getEthBalance: 7n,
      balanceOf: 9n,
      latestRoundData: [1n, 200_000_000_000n, 5n, 6n, 1n],
      description: 'ETH / USD',
      decimals: 8,
      getL1Fee: 1_000n,
      getOperatorFee: 50n,
    }
    const value = { ...defaults, ...script.answers }[functionName]
    // CAST: each default above has the type that its function returns.
    const returnData = encodeFunctionResult({ abi: contractAbi, functionName, result: value as never })
    return { success: true, returnData }
  })
  return encodeFunctionResult({ abi: multicallAbi, functionName: 'aggregate3', result })
}

function basePlan(feeModel: object = { kind: 'eip1559' }): ChainPlan {
  const file = quoteFile((input) => ({
    ...input,
    chains: { ...input.chains, base: { ...input.chains.base, feeModel } },
  }))
  const [plan] = planMarket(file).chains
  if (plan === undefined) throw new Error('base is not planned')
  return plan
}

function setUp(options: { script?: Script; plan?: ChainPlan; mirror?: PoolMirror; wallet?: boolean } = {}) {
  let script = options.script ?? {}
  let nowMs = 1_800_000_000_000
  const { mirror } = options
  const client = createScriptedClient((call) => answerer(script)(call))
  const source = createChainSource({
    plan: options.plan ?? basePlan(),
    client,
    batchTimeoutMs: 1_000,
    poolsTimeoutMs: 50,
    now: () => nowMs,
    ...(options.wallet !== false && { fillWallet }),
    ...(mirror !== undefined && { mirrorOf: () => mirror }),
  })
  return {
    client,
    read: () => source.read(signal),
    agreedHead: () => source.agreedHead?.(),
    change: (next: Script) => {
      script = next
    },
    pass: (ms: number) => {
      nowMs += ms
    },
  }
}

describe('one refresh', () => {
  test('is the head, then everything at its hash', async () => {
    const { client, read } = setUp()
    const answered = {
      round: { answer: 200_000_000_000n, updatedAtSeconds: 6n },
      identity: { description: 'ETH / USD', decimals: 8 },
    }
    expect(await read()).toEqual({
      head: { number: 100n, hash: blockHash(100), timestampSeconds: 1_800_000_000 },
      fees: {
        fees: expect.objectContaining({
          gasPrice: {
            expectedWei: 1_205n,
            maxFeePerGasWei: expect.any(BigInt),
            maxPriorityFeePerGasWei: 5n,
          },
          l1DataFeeWei: expect.objectContaining({ approve: 0n, 'fill-swap': 0n }),
        }),
        shown: expect.objectContaining({ ceilingWei: '100000000', tipFrom: 'agreed' }),
      },
      contractsAt: { block: 100n, timestampSeconds: 1_800_000_000 },
      inventory: new Map([
        [`8453:${native}`, 7n],
        [`8453:${usdc}`, 9n],
      ]),
      feeds: new Map([
        [ethFeed, answered],
        [usdcFeed, answered],
      ]),
      pools: [],
      poolsLive: true,
      poolProblems: new Map(),
    })
    expect(client.batches.map((calls) => calls.map(({ method }) => method))).toEqual([
      ['eth_getBlockByNumber'],
      ['eth_feeHistory', 'eth_call'],
    ])
    expect(client.batches[1]?.map(({ params }) => params[1])).toEqual([
      '0x64',
      { blockHash: blockHash(100), requireCanonical: true },
    ])
  })

  test('of a head that stays is its head alone, and the reading before', async () => {
    const { client, read } = setUp()
    const first = await read()
    expect(await read()).toBe(first)
    expect(client.batches.map((calls) => calls.length)).toEqual([1, 2, 1])
  })

  test('F-106: where several blocks come between two looks is the state of one in nearly two seconds', async () => {
    const { client, read, change, pass } = setUp()
    const first = await read()
    change({ number: 103 })
    pass(1_000)
    expect(await read()).toBe(first)
    change({ number: 106 })
    pass(750)
    const second = await read()
    expect(second.head.number).toBe(106n)
    // The next block alone is read when it is there.
    change({ number: 107 })
    expect((await read()).head.number).toBe(107n)
    expect(client.batches.map((calls) => calls.length)).toEqual([1, 2, 1, 1, 2, 1, 2])
  })

  test('F-106: and so it is where each look finds one of two in a second', async () => {
    const plan = basePlan()
    const { client, read, change, pass } = setUp({
      plan: { ...plan, config: { ...plan.config, blockTimeMs: 500 } },
    })
    for (let number = 100; number < 116; number += 1) {
      change({ number })
      await read()
      pass(500)
    }
    expect(client.batches.filter((calls) => calls.length === 2)).toHaveLength(4)
  })

  test('adds data fee and operator fee per shape on an OP-stack chain', async () => {
    const plan = basePlan({ kind: 'op-stack', gasPriceOracle: '0x420000000000000000000000000000000000000f' })
    const { read, change, pass } = setUp({ plan })
    const { l1DataFeeWei } = evmFees((await read()).fees.fees)
    expect(new Set(Object.values(l1DataFeeWei))).toEqual(new Set([1_050n]))
    change({ number: 101, failing: 'getOperatorFee' })
    pass(5_000)
    expect(evmFees((await read()).fees.fees).l1DataFeeWei.approve).toBe(1_000n)
  })

  test('asks for data fees every five seconds and keeps them in between', async () => {
    const plan = basePlan({ kind: 'op-stack', gasPriceOracle: '0x420000000000000000000000000000000000000f' })
    const { read, change, pass, client } = setUp({ plan })
    await read()
    change({ number: 101, answers: { getL1Fee: 9_000n } })
    pass(4_999)
    expect(evmFees((await read()).fees.fees).l1DataFeeWei.approve).toBe(1_050n)
    change({ number: 102, answers: { getL1Fee: 9_000n } })
    pass(1)
    expect(evmFees((await read()).fees.fees).l1DataFeeWei.approve).toBe(9_050n)
    const states = client.batches.filter((calls) => calls.length === 2)
    const [first = 0, second = 0, third = 0] = states.map((calls) => JSON.stringify(calls).length)
    expect([second < first / 2, third > second * 2]).toEqual([true, true])
  })

  test('fails when a data fee cannot be read, because zero would be a guess', async () => {
    const plan = basePlan({ kind: 'op-stack', gasPriceOracle: '0x420000000000000000000000000000000000000f' })
    const { read } = setUp({ plan, script: { failing: 'getL1Fee' } })
    await expect(read()).rejects.toMatchObject({ kind: 'upstream_unavailable' })
  })

  test('leaves out a balance that cannot be read and a feed that does not answer', async () => {
    const { read, change } = setUp({ script: { failing: 'balanceOf' } })
    expect((await read()).inventory).toEqual(new Map([[`8453:${native}`, 7n]]))
    change({ number: 101, failing: 'latestRoundData' })
    expect([...(await read()).feeds.values()].map(({ round }) => round)).toEqual([undefined, undefined])
  })

  test('asks for no balance without a fill wallet', async () => {
    const { read } = setUp({ wallet: false, script: { failing: 'getEthBalance' } })
    expect([...(await read()).inventory.values()]).toEqual([0n, 0n])
  })

  test.each<[string, Script]>([
    [
      'a node error',
      {
        override: ({ method }) =>
          method === 'eth_call' ? { ok: false, code: -32_000, message: 'x' } : undefined,
      },
    ],
    [
      'no head',
      {
        override: ({ method }) =>
          method === 'eth_getBlockByNumber' ? { ok: true, result: null } : undefined,
      },
    ],
    ['a fee history of another shape', { baseFees: [] }],
    [
      'a multicall that returns nothing',
      { override: ({ method }) => (method === 'eth_call' ? { ok: true, result: '0x' } : undefined) },
    ],
  ])('fails as unavailable on %s', async (_name, script) => {
    await expect(setUp({ script }).read()).rejects.toMatchObject({
      kind: 'upstream_unavailable',
      code: expect.stringMatching(/^(RPC_HTTP_ERROR|SERVICE_UNAVAILABLE)$/),
    })
  })

  test('stays at the newer head while an older one is shown, and accepts a reorganisation', async () => {
    const { read, change } = setUp({ script: { number: 100 } })
    await read()
    change({ number: 101 })
    await read()
    change({ number: 100 })
    expect((await read()).head.number).toBe(101n)
    change({ number: 101, hash: blockHash(201), parentHash: blockHash(100) })
    expect((await read()).head.hash).toBe(blockHash(201))
  })

  test('tells of its head before the rest of it is read, and of none that is taken back', async () => {
    const { read, change, agreedHead } = setUp()
    expect(agreedHead()).toBeUndefined()
    await read()
    change({ number: 101, baseFees: [] })
    await expect(read()).rejects.toThrow()
    expect(agreedHead()).toEqual({ number: 101n, hash: blockHash(101) })
    change({ number: 101 })
    await read()
    change({ number: 100 })
    await read()
    expect(agreedHead()).toEqual({ number: 101n, hash: blockHash(101) })
  })
})

describe('pools', () => {
  const pool = poolAt(2_000, blockHash(1)).address

  function setUpPools(refresh: PoolMirror['refresh']) {
    const heads: bigint[] = []
    const mirror: PoolMirror = {
      refresh(head, abort) {
        heads.push(head.number)
        return refresh(head, abort)
      },
      problems: () => new Map([[pool, 'inconsistent']]),
    }
    const { change, read, ...rest } = setUp({ mirror })
    let number = 100
    /** At a head of its own. */
    const readNext = () => {
      number += 1
      change({ number })
      return read()
    }
    return { heads, change, read, readNext, ...rest }
  }

  test('are those of the head, with what the mirror leaves out', async () => {
    const { heads, read, change } = setUpPools(async ({ hash }) => [poolAt(2_000, hash)])
    expect(await read()).toMatchObject({ poolsLive: true, poolProblems: new Map([[pool, 'inconsistent']]) })
    change({ number: 101 })
    expect((await read()).pools[0]?.blockHash).toBe(blockHash(101))
    expect(heads).toEqual([100n, 101n])
  })

  test('that fail once loaded fail the refresh twice, then are left out until they come back', async () => {
    let broken = false
    const { readNext } = setUpPools(async ({ hash }) => {
      if (broken) throw new Error('no pools')
      return [poolAt(2_000, hash)]
    })
    await readNext()
    broken = true
    await expect(readNext()).rejects.toThrow('no pools')
    await expect(readNext()).rejects.toThrow('no pools')
    expect(await readNext()).toMatchObject({ pools: [], poolsLive: false })
    expect(await readNext()).toMatchObject({ pools: [], poolsLive: false })
    broken = false
    expect(await readNext()).toMatchObject({ pools: [{ address: pool }], poolsLive: true })
    broken = true
    await expect(readNext()).rejects.toThrow('no pools')
  })

  const untilAborted: PoolMirror['refresh'] = (_head, abort) =>
    new Promise((_resolve, reject) => {
      abort?.addEventListener('abort', () => reject(abort.reason))
    })

  test('that take long once loaded fail the refresh as a late answer', async () => {
    let hangs = false
    const { readNext } = setUpPools(async (head, abort) =>
      hangs ? untilAborted(head, abort) : [poolAt(2_000, head.hash)],
    )
    await readNext()
    hangs = true
    await expect(readNext()).rejects.toMatchObject({ code: 'REQUEST_TIMED_OUT' })
  })

  test('that take long to load the first time do not keep the rest back', async () => {
    const { read } = setUpPools(untilAborted)
    expect(await read()).toMatchObject({
      pools: [],
      poolsLive: false,
      fees: { fees: { gasPrice: { expectedWei: 1_205n } } },
    })
  })
})
