// Goal: the published Uniswap V3 stands on a local chain at addresses that depend on no key.
// Method: two fresh nodes with different random accounts, the real contracts, real swaps.
import type { Hex } from '@causeway/core'
import { zeroAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPool, deployUniswapV3, ensurePositions, mintPositions, swapExactInput } from '../src/index.ts'
import { factoryAbi, peripheryAbi, poolAbi, quoterV2Abi } from '../src/uniswap/abis.ts'
import { create2Address, create2Proxy, lowerCase } from '../src/uniswap/create2.ts'
import { uniswapBytecode } from '../src/uniswap/deployUniswapV3.ts'
import { factoryCreatorCode } from '../src/uniswap/factoryDeployer.ts'
import { type PoolTestbed, startPoolTestbed } from '../src/uniswap/poolTestbed.ts'

let bed: PoolTestbed
let other: PoolTestbed

beforeAll(async () => {
  ;[bed, other] = await Promise.all([startPoolTestbed(), startPoolTestbed({ chainId: 31_338 })])
})

afterAll(async () => {
  await Promise.all([bed?.anvil.stop(), other?.anvil.stop()])
})

const read = (functionName: 'factory' | 'WETH9', address: Hex) =>
  bed.publicClient.readContract({ address, abi: peripheryAbi, functionName })

const slot0 = async (address: Hex) => {
  const [sqrtPriceX96, tick] = await bed.publicClient.readContract({
    address,
    abi: poolAbi,
    functionName: 'slot0',
  })
  return { sqrtPriceX96, tick }
}

describe('deployUniswapV3', () => {
  it('gives the same addresses to different deployers on different chains', () => {
    expect(bed.walletClient.account.address).not.toBe(other.walletClient.account.address)
    expect(bed.uniswap).toEqual(other.uniswap)
  })

  it('sends nothing when everything is already there', async () => {
    const before = await bed.publicClient.getBlockNumber()
    const wrappedNative = await read('WETH9', bed.uniswap.swapRouter)
    const again = await deployUniswapV3({
      ...bed,
      wrappedNative: lowerCase(wrappedNative),
    })
    expect(again).toEqual(bed.uniswap)
    expect(await bed.publicClient.getBlockNumber()).toBe(before)
  })

  it('wires the periphery to the factory', async () => {
    for (const address of [bed.uniswap.swapRouter, bed.uniswap.quoterV2, bed.uniswap.positionManager]) {
      expect((await read('factory', address)).toLowerCase()).toBe(bed.uniswap.factory)
    }
  })

  it.each([
    [100, 1],
    [500, 10],
    [3000, 60],
    [10_000, 200],
  ])('enables the fee %i with tick spacing %i', async (feePips, tickSpacing) => {
    const spacing = await bed.publicClient.readContract({
      address: bed.uniswap.factory,
      abi: factoryAbi,
      functionName: 'feeAmountTickSpacing',
      args: [feePips],
    })
    expect(spacing).toBe(tickSpacing)
  })

  it('leaves the factory to an owner that has no key and no code', async () => {
    const owner = await bed.publicClient.readContract({
      address: bed.uniswap.factory,
      abi: factoryAbi,
      functionName: 'owner',
    })
    expect(owner.toLowerCase()).toBe(create2Address(factoryCreatorCode(uniswapBytecode('factory'))))
    expect(owner.toLowerCase()).not.toBe(create2Proxy)
    expect(await bed.publicClient.getCode({ address: owner })).toBeUndefined()
  })
})

describe('createPool', () => {
  it('sets the exact price whichever way round the tokens are named', async () => {
    const [usdc, tide] = [
      await bed.deployToken({ symbol: 'PUSDC', decimals: 6 }),
      await bed.deployToken({ symbol: 'PTIDE', decimals: 18 }),
    ]
    const price = { amountA: 2n * 10n ** 6n, amountB: 10n ** 18n }
    const forwards = await createPool({ ...bed, tokenA: usdc, tokenB: tide, feePips: 500, price })
    const backwards = await createPool({
      ...bed,
      tokenA: tide,
      tokenB: usdc,
      feePips: 3000,
      price: { amountA: price.amountB, amountB: price.amountA },
    })
    expect(forwards).toMatchObject({ token0: backwards.token0, token1: backwards.token1, tickSpacing: 10 })
    const { sqrtPriceX96 } = await slot0(forwards.address)
    expect((await slot0(backwards.address)).sqrtPriceX96).toBe(sqrtPriceX96)
    const [amount0, amount1] =
      forwards.token0 === usdc ? [price.amountA, price.amountB] : [price.amountB, price.amountA]
    expect(sqrtPriceX96 ** 2n * amount0).toBeLessThanOrEqual(amount1 << 192n)
    expect((sqrtPriceX96 + 1n) ** 2n * amount0).toBeGreaterThan(amount1 << 192n)
  })

  it('finds an existing pool again and leaves its price alone', async () => {
    const [tokenA, tokenB] = [
      await bed.deployToken({ symbol: 'QA', decimals: 18 }),
      await bed.deployToken({ symbol: 'QB', decimals: 18 }),
    ]
    const pool = await createPool({
      ...bed,
      tokenA,
      tokenB,
      feePips: 100,
      price: { amountA: 1n, amountB: 1n },
    })
    const block = await bed.publicClient.getBlockNumber()
    const again = await createPool({
      ...bed,
      tokenA,
      tokenB,
      feePips: 100,
      price: { amountA: 1n, amountB: 9n },
    })
    expect(again).toEqual(pool)
    expect(await bed.publicClient.getBlockNumber()).toBe(block)
    expect((await slot0(pool.address)).tick).toBe(0)
  })

  it('refuses a fee that the factory does not know', async () => {
    await expect(
      createPool({
        ...bed,
        tokenA: zeroAddress,
        tokenB: create2Proxy,
        feePips: 77,
        price: { amountA: 1n, amountB: 1n },
      }),
    ).rejects.toThrow('does not know the fee 77')
  })
})

describe('a pool with liquidity', () => {
  it('swaps for exactly what the quoter said, and a repeated deployment adds nothing to it', async () => {
    const [tokenA, tokenB] = [
      await bed.deployToken({ symbol: 'SA', decimals: 6 }),
      await bed.deployToken({ symbol: 'SB', decimals: 18 }),
    ]
    const price = { amountA: 10n ** 6n, amountB: 10n ** 18n }
    const pool = await createPool({ ...bed, tokenA, tokenB, feePips: 3000, price })
    const tick = (await slot0(pool.address)).tick
    const centre = Math.floor(tick / 60) * 60
    const positions = [
      { tickLower: centre - 600, tickUpper: centre + 600, amount0: 10n ** 24n, amount1: 10n ** 24n },
    ]
    const [minted] = await mintPositions({ ...bed, pool, positions })
    await ensurePositions({ ...bed, pool, positions })
    const inRange = await bed.publicClient.readContract({
      address: pool.address,
      abi: poolAbi,
      functionName: 'liquidity',
    })
    expect(inRange).toBe(minted?.liquidity)

    const amountIn = pool.token0 === tokenA ? 5n * 10n ** 6n : 5n * 10n ** 18n
    const quote = await bed.publicClient.simulateContract({
      address: bed.uniswap.quoterV2,
      abi: quoterV2Abi,
      functionName: 'quoteExactInputSingle',
      args: [{ tokenIn: pool.token0, tokenOut: pool.token1, amountIn, fee: 3000, sqrtPriceLimitX96: 0n }],
    })
    await swapExactInput({ ...bed, pool, zeroForOne: true, amountIn })
    expect((await slot0(pool.address)).sqrtPriceX96).toBe(quote.result[1])
  })
})
