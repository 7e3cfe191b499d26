// Each function is declared with as much as is read of it; the contracts' own ABI is the oracle.
import type { Hex } from '@causeway/core'
import { encodeAbiParameters, encodeEventTopics, encodeFunctionData, parseAbi } from 'viem'
import { describe, expect, it } from 'vitest'
import { burnTopic, mintTopic, parseLiquidityLogs } from './liquidityLogs.ts'
import {
  getPoolCall,
  liquidityCall,
  readSlot0,
  readTick,
  readTickSpacing,
  slot0Call,
  tickBitmapCall,
  tickCall,
  tickSpacingCall,
} from './poolCalls.ts'

const abi = parseAbi([
  'function slot0() view returns (uint160, int24, uint16, uint16, uint16, uint8, bool)',
  'function liquidity() view returns (uint128)',
  'function tickSpacing() view returns (int24)',
  'function tickBitmap(int16) view returns (uint256)',
  'function ticks(int24) view returns (uint128, int128)',
  'function getPool(address, address, uint24) view returns (address)',
  'event Mint(address sender, address indexed owner, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount, uint256 amount0, uint256 amount1)',
  'event Burn(address indexed owner, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount, uint256 amount0, uint256 amount1)',
])
const pool: Hex = '0x00000000000000000000000000000000000000aa'
const token0: Hex = '0x1111111111111111111111111111111111111111'
const token1: Hex = '0x2222222222222222222222222222222222222222'
const config = { address: pool, token0, token1, feePips: 3_000, tickSpacing: 60 } as const
const blockHash = `0x${'cd'.repeat(32)}` as const

describe('calls of a pool', () => {
  it('are encoded as the ABI says, negative numbers too', () => {
    const data = (functionName: 'slot0' | 'liquidity' | 'tickSpacing') =>
      encodeFunctionData({ abi, functionName })
    expect(slot0Call(pool)).toEqual({ target: pool, callData: data('slot0') })
    expect(liquidityCall(pool)).toEqual({ target: pool, callData: data('liquidity') })
    expect(tickSpacingCall(pool)).toEqual({ target: pool, callData: data('tickSpacing') })
    for (const at of [-3_466, -1, 0, 3_465]) {
      const callData = encodeFunctionData({ abi, functionName: 'tickBitmap', args: [at] })
      expect(tickBitmapCall(pool, at)).toEqual({ target: pool, callData })
    }
    for (const at of [-887_272, -1, 0, 887_272]) {
      const callData = encodeFunctionData({ abi, functionName: 'ticks', args: [at] })
      expect(tickCall(pool, at)).toEqual({ target: pool, callData })
    }
    expect(getPoolCall(pool, config).callData).toBe(
      encodeFunctionData({ abi, functionName: 'getPool', args: [token0, token1, 3_000] }),
    )
  })

  it('are decoded with their signs', () => {
    const slot0 = encodeAbiParameters([{ type: 'uint160' }, { type: 'int24' }], [2n ** 150n, -12_345])
    expect(readSlot0(slot0)).toEqual({ sqrtPriceX96: 2n ** 150n, tick: -12_345 })
    const tick = encodeAbiParameters([{ type: 'uint128' }, { type: 'int128' }], [7n, -(2n ** 100n)])
    expect(readTick(tick)).toEqual({ gross: 7n, net: -(2n ** 100n) })
    expect(readTickSpacing(encodeAbiParameters([{ type: 'int24' }], [60]))).toBe(60)
    expect(() => readSlot0('0x')).toThrow('unreadable')
  })
})

describe('liquidity events', () => {
  const owner = token0
  const indexed = { owner, tickLower: -120, tickUpper: 60 }
  const amounts = [{ type: 'uint256' }, { type: 'uint256' }, { type: 'uint256' }] as const
  const log = (topics: readonly unknown[], data: string, block: string = blockHash) => ({
    address: `0x${pool.slice(2).toUpperCase()}`,
    topics,
    data,
    blockHash: block,
  })
  const mint = log(
    encodeEventTopics({ abi, eventName: 'Mint', args: indexed }),
    encodeAbiParameters([{ type: 'address' }, ...amounts], [owner, 77n, 1n, 2n]),
  )
  const burn = log(
    encodeEventTopics({ abi, eventName: 'Burn', args: indexed }),
    encodeAbiParameters(amounts, [33n, 1n, 2n]),
  )

  it('have their topics', () => {
    expect([mintTopic, burnTopic]).toEqual([mint.topics[0], burn.topics[0]])
  })

  it('add for a mint and take away for a burn', () => {
    const position = { pool, tickLower: -120, tickUpper: 60 }
    expect(parseLiquidityLogs([mint, burn], blockHash)).toEqual([
      { ...position, liquidity: 77n },
      { ...position, liquidity: -33n },
    ])
  })

  it.each([
    ['is no list', {}],
    ['holds a log of another block', [log(mint.topics, mint.data, `0x${'ee'.repeat(32)}`)]],
    ['holds another event', [log([`0x${'12'.repeat(32)}`, ...mint.topics.slice(1)], mint.data)]],
    ['holds too few topics', [log(mint.topics.slice(0, 3), mint.data)]],
    ['holds too little data', [log(mint.topics, mint.data.slice(0, 66))]],
  ])('are refused when the answer %s', (_, answer) => {
    expect(() => parseLiquidityLogs(answer, blockHash)).toThrow('unreadable')
  })
})
