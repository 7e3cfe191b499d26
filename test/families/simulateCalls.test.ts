// Goal: gas of destination calls is measured as a chain would run them, a failing call is the caller's
// fault and a failing chain is not. Method: a real node with and without eth_simulateV1.
import { type Hex, UpstreamUnavailableError } from '@causeway/core'
import {
  type CallSimulator,
  type CallSimulatorOptions,
  createCallSimulator,
  DestinationCallFailedError,
  type SimulatedCall,
  SimulationOverloadedError,
  SimulationUnsupportedError,
} from '@causeway/families'
import { type FaultMode, startFaultProxy } from '@causeway/localnet'
import { createJsonRpcClient } from '@causeway/rpc'
import { encodeFunctionData, erc20Abi } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { type EvmTestbed, startEvmTestbed } from './evmTestbed.ts'

const poor = `0x${'77'.repeat(20)}` as const
const receiver = `0x${'88'.repeat(20)}` as const
const endless = `0x${'99'.repeat(20)}` as const
const talkative = `0x${'aa'.repeat(20)}` as const
const withoutSimulate: FaultMode = { kind: 'unsupported', methods: ['eth_simulateV1'] }

let chain: EvmTestbed

beforeAll(async () => {
  chain = await startEvmTestbed()
  // Loops for ever.
  await chain.node({ method: 'anvil_setCode', params: [endless, '0x5b600056'] })
  // Reverts with its calldata.
  await chain.node({ method: 'anvil_setCode', params: [talkative, '0x365f5f37365ffd'] })
})
afterAll(() => chain.stop())
beforeEach(async () => {
  await chain.proxy.set({ kind: 'pass' })
  chain.proxy.resetCounters()
})

function simulatorOf(options: Partial<CallSimulatorOptions> = {}): CallSimulator {
  return createCallSimulator({ client: chain.client(), now: Date.now, timeoutMs: 10_000, ...options })
}

const send = (value: bigint): SimulatedCall => ({ to: receiver, value, data: '0x' })
const erc20 = (to: Hex, data: Hex): SimulatedCall => ({ to, value: 0n, data })
const approve = () =>
  erc20(chain.token, encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [chain.owner, 5n] }))
const pull = () =>
  erc20(
    chain.token,
    encodeFunctionData({ abi: erc20Abi, functionName: 'transferFrom', args: [chain.owner, receiver, 5n] }),
  )

const modes = [
  ['with eth_simulateV1', { kind: 'pass' }],
  ['without it', withoutSimulate],
] as const

describe.each(modes)('a node %s', (_name, mode) => {
  beforeEach(() => chain.proxy.set(mode))

  test('measures a transfer of more than the sender has', async () => {
    expect(await simulatorOf().gasOf({ from: poor, calls: [send(5n)] })).toBe(21_000n)
  })

  test('adds up several calls', async () => {
    const calls = [send(5n), send(6n), send(7n)]
    expect(await simulatorOf().gasOf({ from: poor, calls })).toBe(63_000n)
  })

  test.each([
    ['a reason', '0x08c379a0', 'no entry'],
    ['an error of its own', '0xf4d678b8', 'it reverts with 0xf4d678b8'],
  ] as const)('tells a revert with %s', async (_what, selector, reason) => {
    const text =
      selector === '0x08c379a0'
        ? `${'20'.padStart(64, '0')}${'8'.padStart(64, '0')}${Buffer.from('no entry').toString('hex').padEnd(64, '0')}`
        : ''
    const failed = simulatorOf().gasOf({ from: poor, calls: [erc20(talkative, `${selector}${text}`)] })
    await expect(failed).rejects.toBeInstanceOf(DestinationCallFailedError)
    await expect(failed).rejects.toMatchObject({
      code: 'DESTINATION_TX_FAILED',
      kind: 'invalid_request',
      retryable: false,
      data: { chainId: 'base', index: 0, reason },
    })
  })

  test('refuses a call that needs more gas than the cap', async () => {
    const failed = simulatorOf().gasOf({ from: poor, calls: [erc20(endless, '0x')] })
    await expect(failed).rejects.toMatchObject({
      code: 'DESTINATION_TX_FAILED',
      data: { reason: 'more than 10000000 gas is needed' },
    })
  })

  test('refuses calls that need more than the cap together', async () => {
    const simulator = simulatorOf({ gasMax: 50_000n })
    expect(await simulator.gasOf({ from: poor, calls: [send(1n), send(1n)] })).toBe(42_000n)
    const failed = simulator.gasOf({ from: poor, calls: [send(1n), send(1n), send(1n)] })
    await expect(failed).rejects.toMatchObject({ code: 'DESTINATION_TX_FAILED' })
  })

  test.each<readonly [string, FaultMode]>([
    ['never answers', { kind: 'hang' }],
    ['refuses connections', { kind: 'refuse' }],
    ['answers nonsense', { kind: 'html200' }],
    ['lies about the shape', { kind: 'lie', rewrite: () => ({ odd: true }) }],
    ['fails in itself', { kind: 'nodeError', code: -32_603, message: 'internal error' }],
    ['has not the block', { kind: 'nodeError', code: -32_000, message: 'header not found' }],
  ])('that %s is never the fault of the calls', async (_what, fault) => {
    const simulator = simulatorOf({ timeoutMs: 2_000 })
    await simulator.gasOf({ from: poor, calls: [send(1n)] })
    await chain.proxy.set(fault)
    const failed = simulator.gasOf({ from: poor, calls: [send(2n)] })
    await expect(failed).rejects.toBeInstanceOf(UpstreamUnavailableError)
    await expect(failed).rejects.toMatchObject({ retryable: true })
    await chain.proxy.set(mode)
    expect(await simulator.gasOf({ from: poor, calls: [send(2n)] })).toBe(21_000n)
  })
})

describe('calls that build on each other', () => {
  test('run in order', async () => {
    const calls = [
      approve(),
      erc20(
        chain.token,
        encodeFunctionData({
          abi: erc20Abi,
          functionName: 'transferFrom',
          args: [chain.owner, receiver, 5n],
        }),
      ),
    ]
    const simulator = simulatorOf()
    expect(await simulator.gasOf({ from: chain.owner, calls })).toBeGreaterThan(42_000n)
    await expect(simulator.gasOf({ from: chain.owner, calls: [pull()] })).rejects.toBeInstanceOf(
      DestinationCallFailedError,
    )
  })

  test('are not called failing where the node can only run one at a time', async () => {
    await chain.proxy.set(withoutSimulate)
    const failed = simulatorOf().gasOf({ from: chain.owner, calls: [approve(), pull()] })
    await expect(failed).rejects.toBeInstanceOf(SimulationUnsupportedError)
    await expect(failed).rejects.toMatchObject({ kind: 'invalid_request', data: { field: 'txs' } })
  })
})

describe('limits', () => {
  test('a ninth simulation is refused at once, with a hint to retry', async () => {
    await chain.proxy.set({ kind: 'latency', delayMs: 300 })
    const simulator = simulatorOf()
    const eight = Array.from({ length: 8 }, (_, value) =>
      simulator.gasOf({ from: poor, calls: [send(BigInt(value))] }),
    )
    const ninth = simulator.gasOf({ from: poor, calls: [send(8n)] })
    await expect(ninth).rejects.toBeInstanceOf(SimulationOverloadedError)
    await expect(ninth).rejects.toMatchObject({ kind: 'overloaded', retryable: true })
    expect(await Promise.all(eight)).toEqual(eight.map(() => 21_000n))
    expect(await simulator.gasOf({ from: poor, calls: [send(8n)] })).toBe(21_000n)
  })

  test('equal calls are measured once, while under way and for some seconds after', async () => {
    let nowMs = 0
    const simulator = simulatorOf({ now: () => nowMs })
    const ask = () => simulator.gasOf({ from: poor, calls: [send(1n)] })
    await Promise.all([ask(), ask()])
    nowMs = 2_999
    await ask()
    expect(chain.proxy.counters().requests).toBe(1)
    nowMs = 3_000
    await ask()
    expect(chain.proxy.counters().requests).toBe(2)
    await simulator.gasOf({ from: receiver, calls: [send(1n)] })
    expect(chain.proxy.counters().requests).toBe(3)
  })

  test('a failing call is remembered too', async () => {
    const simulator = simulatorOf()
    const ask = () => simulator.gasOf({ from: poor, calls: [erc20(talkative, '0x')] })
    await expect(ask()).rejects.toBeInstanceOf(DestinationCallFailedError)
    await expect(ask()).rejects.toBeInstanceOf(DestinationCallFailedError)
    expect(chain.proxy.counters().requests).toBe(1)
  })

  test('a node that lacks the method is not asked for it every time', async () => {
    await chain.proxy.set(withoutSimulate)
    const simulator = simulatorOf()
    await simulator.gasOf({ from: poor, calls: [send(1n)] })
    await simulator.gasOf({ from: poor, calls: [send(2n)] })
    expect(chain.proxy.counters().callsByMethod).toEqual({ eth_simulateV1: 1, eth_estimateGas: 2 })
  })

  test('no calls cost no gas and no request', async () => {
    expect(await simulatorOf().gasOf({ from: poor, calls: [] })).toBe(0n)
    expect(chain.proxy.counters().requests).toBe(0)
  })
})

describe('one liar of three endpoints', () => {
  type Simulated = { calls: { gasUsed: string; status: string; returnData: string }[] }[]
  const withCall =
    (change: object) =>
    (_call: unknown, result: unknown): unknown =>
      // CAST: what a real node answered to eth_simulateV1, the only method that is asked.
      (result as Simulated).map((block) => ({
        ...block,
        calls: block.calls.map((call) => ({ ...call, ...change })),
      }))
  const lies = [
    ['says that they cost nothing', withCall({ gasUsed: '0x0' })],
    ['says that they cost ten million', withCall({ gasUsed: '0x989680' })],
    ['says that they fail', withCall({ status: '0x0', returnData: '0x' })],
  ] as const

  async function threeEndpoints(mode: FaultMode): Promise<CallSimulator> {
    const liar = await startFaultProxy({ targetUrl: chain.bed.anvil.url })
    await liar.set(mode)
    const honest = await startFaultProxy({ targetUrl: chain.bed.anvil.url })
    await honest.set({ kind: 'latency', delayMs: 30 })
    const endpoints = [liar, chain.proxy, honest].map(({ url }) => ({ url }))
    const client = createJsonRpcClient({ chainId: 'base', endpoints, timeoutMs: 5_000 })
    onTestFinished(async () => {
      await client.close()
      await Promise.all([liar.stop(), honest.stop()])
    })
    return simulatorOf({ client })
  }

  test.each(lies)('that %s moves no gas and refuses no calls', async (_what, rewrite) => {
    const simulator = await threeEndpoints({ kind: 'lie', rewrite })
    expect(await simulator.gasOf({ from: poor, calls: [send(5n)] })).toBe(21_000n)
  })

  test.each<readonly [string, FaultMode]>([
    ['hangs', { kind: 'hang' }],
    ['knows no such method', withoutSimulate],
  ])('that %s stops nothing', async (_what, mode) => {
    const simulator = await threeEndpoints(mode)
    expect(await simulator.gasOf({ from: poor, calls: [send(5n)] })).toBe(21_000n)
  })

  test('that says a failing call costs little does not let it pass', async () => {
    const rewrite = withCall({ status: '0x1', gasUsed: '0x5208' })
    const simulator = await threeEndpoints({ kind: 'lie', rewrite })
    const failed = simulator.gasOf({ from: poor, calls: [erc20(talkative, '0x')] })
    await expect(failed).rejects.toBeInstanceOf(DestinationCallFailedError)
  })
})

test('endpoints that each measure another amount give the middle of three, and two of them nothing', async () => {
  const saying = async (gasUsed: string, isSilent = false) => {
    const proxy = await startFaultProxy({ targetUrl: chain.bed.anvil.url })
    const rewrite = () => [{ calls: [{ gasUsed, status: '0x1' }] }]
    await proxy.set(isSilent ? { kind: 'refuse' } : { kind: 'lie', rewrite })
    onTestFinished(() => proxy.stop())
    return { url: proxy.url }
  }
  const ask = async (endpoints: readonly { url: string }[]) => {
    const client = createJsonRpcClient({ chainId: 'base', endpoints, timeoutMs: 5_000 })
    onTestFinished(() => client.close())
    return simulatorOf({ client }).gasOf({ from: poor, calls: [send(5n)] })
  }
  const [low, middle, high] = [await saying('0x10'), await saying('0x20'), await saying('0x30')]
  expect(await ask([high, low, middle])).toBe(0x20n)
  await expect(ask([high, low, await saying('0x0', true)])).rejects.toMatchObject({ retryable: true })
})
