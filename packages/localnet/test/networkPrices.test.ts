// Goal: operators' commands move what they name, on real pools and feeds.
// Method: a test network from the snapshot; prices are read where the service reads them.
import { type Hex, spotPrice } from '@causeway/core'
import { erc20Abi } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { setBaseFee } from '../src/network/operate/baseFee.ts'
import { dispense } from '../src/network/operate/faucet.ts'
import { movePrice } from '../src/network/operate/movePrice.ts'
import { readFeeds, refreshFeeds } from '../src/network/refreshFeeds.ts'
import { startTestNetwork, type TestNetwork } from '../src/network/testNetwork/startTestNetwork.ts'
import { poolAbi } from '../src/uniswap/abis.ts'

const userChains = ['base', 'optimism'] as const
const usd = 10n ** 8n
let network: TestNetwork

beforeAll(async () => {
  network = await startTestNetwork()
})

afterAll(async () => {
  await network?.stop()
})

async function answerOf(key: 'base' | 'optimism', price: string): Promise<bigint | undefined> {
  const rounds = await readFeeds(network.chains[key].chain, network.deployment[key])
  return rounds.find((round) => round.key === price)?.answer
}

async function slot0(key: 'base' | 'optimism', address: Hex) {
  const [sqrtPriceX96, tick] = await network.chains[key].chain.client.readContract({
    address,
    abi: poolAbi,
    functionName: 'slot0',
  })
  return { sqrtPriceX96, tick }
}

const decimalsOf = (key: 'base' | 'optimism', token: Hex): number => {
  const { USDC, USDX } = network.deployment[key].tokens
  return token === USDC || token === USDX ? 6 : 18
}

/** Whole units of token 1 per whole unit of token 0, as the pool says it. */
async function poolPrices(key: 'base' | 'optimism', of: (tokens: { a: Hex; b: Hex }) => boolean) {
  const pools = network.deployment[key].uniswapV3.pools.filter(({ token0: a, token1: b }) => of({ a, b }))
  return Promise.all(
    pools.map(async ({ address, token0, token1 }) => {
      const { sqrtPriceX96, tick } = await slot0(key, address)
      const { amount0, amount1 } = spotPrice({ sqrtPriceX96 })
      const scale = 10 ** (decimalsOf(key, token0) - decimalsOf(key, token1))
      return { token0, token1, tick, price: (Number(amount1) / Number(amount0)) * scale }
    }),
  )
}

/** The tick of a price, computed with floating point on purpose: another way than the code's. */
function tickOf(price: number, decimals0: number, decimals1: number): number {
  return Math.log(price * 10 ** (decimals1 - decimals0)) / Math.log(1.0001)
}

describe('movePrice', () => {
  it.each([2_600n, 2_400n, 25_000n, 2_500n])(
    'to ETH/USD %s moves feeds and pools of both chains',
    async (dollars) => {
      await movePrice(network, { price: 'ETH/USD', answer: dollars * usd })
      for (const key of userChains) {
        expect(await answerOf(key, 'ETH/USD')).toBe(dollars * usd)
        const { wrappedNative, tokens } = network.deployment[key]
        const pools = await poolPrices(key, ({ a, b }) => [a, b].includes(wrappedNative))
        expect(pools).toHaveLength(3)
        for (const { token0, token1, tick, price } of pools) {
          const worth = (token: Hex) =>
            token === wrappedNative ? Number(dollars) : token === tokens.TIDE ? 4 : 1
          const wanted = worth(token0) / worth(token1)
          expect(price / wanted).toBeCloseTo(1, 6)
          const wantedTick = tickOf(wanted, decimalsOf(key, token0), decimalsOf(key, token1))
          expect(Math.abs(tick - wantedTick)).toBeLessThanOrEqual(1)
        }
      }
    },
  )

  it('sends nothing to pools that already are where they should be', async () => {
    await movePrice(network, { price: 'TIDE/USD', answer: 5n * usd })
    const { chain } = network.chains.base
    const { keeper } = network.keys
    const before = await chain.client.getTransactionCount({ address: keeper.address })
    await movePrice(network, { price: 'TIDE/USD', answer: 5n * usd })
    expect(await chain.client.getTransactionCount({ address: keeper.address })).toBe(before + 1)
  })

  it('moves the feed alone when asked to, even to what readers must refuse', async () => {
    const { address } = network.deployment.base.uniswapV3.pools[0] ?? { address: '0x' as const }
    const before = await slot0('base', address)
    await movePrice(network, { price: 'ETH/USD', answer: 9_000n * usd, only: 'feed' })
    expect(await answerOf('base', 'ETH/USD')).toBe(9_000n * usd)
    expect(await slot0('base', address)).toEqual(before)
    await movePrice(network, { price: 'ETH/USD', answer: 0n, only: 'feed' })
    expect(await answerOf('optimism', 'ETH/USD')).toBe(0n)
    await movePrice(network, { price: 'ETH/USD', answer: 2_500n * usd })
  })

  it('refuses a price that no pool can have', async () => {
    await expect(movePrice(network, { price: 'ETH/USD', answer: 0n })).rejects.toThrow(RangeError)
    expect(await answerOf('base', 'ETH/USD')).toBe(2_500n * usd)
  })

  it('succeeds while the keeper refreshes its feeds with the same key', async () => {
    const { keeper } = network.keys
    let isMoving = true
    const refreshing = Promise.all(
      userChains.map(async (key) => {
        let refreshed = 0
        while (isMoving) {
          const refresh = { keeper, refreshSeconds: 0, now: Date.now }
          // A nonce that the move took meanwhile: the keeper tries again at its next look.
          const keys = await refreshFeeds(network.chains[key].chain, network.deployment[key], refresh).catch(
            () => [],
          )
          refreshed += keys.length
          // A keeper that never pauses leaves no nonce to anybody on a busy machine.
          await new Promise((resolve) => setTimeout(resolve, 50))
        }
        return refreshed
      }),
    )
    for (const dollars of [5n, 6n, 7n, 4n]) {
      await movePrice(network, { price: 'TIDE/USD', answer: dollars * usd })
      expect(await answerOf('base', 'TIDE/USD')).toBe(dollars * usd)
    }
    isMoving = false
    expect(Math.min(...(await refreshing))).toBeGreaterThan(0)
  })
})

describe('setBaseFee', () => {
  it('gives the next block the fee', async () => {
    const { chain } = network.chains.optimism
    await setBaseFee(chain, 5_000_000_000n)
    expect((await chain.client.getBlock()).baseFeePerGas).toBe(5_000_000_000n)
  })

  it.each([0n, 50_000_000_001n])('refuses %s wei', async (wei) => {
    await expect(setBaseFee(network.chains.base.chain, wei)).rejects.toThrow(RangeError)
  })
})

describe('dispense', () => {
  it('funds an account on every chain, again each time', async () => {
    const account: Hex = `0x${'fa'.repeat(20)}`
    await dispense(network, account)
    await dispense(network, account)
    for (const key of ['base', 'optimism', 'hub'] as const) {
      expect(await network.chains[key].chain.client.getBalance({ address: account })).toBe(20n * 10n ** 18n)
    }
    for (const key of userChains) {
      const balance = await network.chains[key].chain.client.readContract({
        address: network.deployment[key].tokens.USDC,
        abi: erc20Abi,
        functionName: 'balanceOf',
        args: [account],
      })
      expect(balance).toBe(20_000n * 10n ** 6n)
    }
  })
})
