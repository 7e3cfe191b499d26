// Goal: fills move the price of moving on: the direction that empties a chain gets dearer, the other
// one earns. Method: two orders are deposited, filled and settled on real chains, and /price is compared
// with the potential of the balances that are on chain then.
import { currencyKey } from '@causeway/core'
import { erc20Abi } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { post, price, quote, readError } from './serviceSupport/callService.ts'
import { currencyAddress, localRequest, type UserChain, userOf } from './serviceSupport/localRequest.ts'
import { fillForReal } from './serviceSupport/realFill.ts'
import { type StillService, startStillService } from './serviceSupport/stillService.ts'

const usdc = 10n ** 6n
const baseFeeWei = 10n ** 7n
/** `quote.local.json`: flat fee, κ and the largest reward of USDC; equal target shares. */
const flatMicroUsd = 20_000n
const kappaBps = 20n
const rewardCapBps = 10n

let still: StillService

beforeAll(async () => {
  still = await startStillService()
  await still.settle(baseFeeWei)
})
afterAll(() => still?.stop())

const opposite = { base: 'optimism', optimism: 'base' } as const
const bridge = (from: UserChain, amount: bigint) =>
  localRequest(still.network, { from, to: opposite[from], amount })

async function relayerService(from: UserChain, amount: bigint): Promise<bigint> {
  const { fees } = await price(still.url, bridge(from, amount))
  return BigInt(fees.relayerService.amount)
}

function solverBalance(chain: UserChain): Promise<bigint> {
  return still.network.chains[chain].chain.client.readContract({
    address: currencyAddress(still.network, chain, 'USDC'),
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [still.network.keys.fillWallet.address],
  })
}

/**
 * The schedule's flat fee and the change of Φ = Σ κ·(b − t)²/(2t) for two chains of equal share, that is
 * κ·a·((in − out) + a)·2/total, in millionths of a USD; a reward is at most `rewardCapBps` of the amount.
 * @source rule Q-40
 */
async function expectedService(from: UserChain, amount: bigint): Promise<bigint> {
  const [received, paid] = [await solverBalance(from), await solverBalance(opposite[from])]
  const costOf = (moved: bigint) =>
    ceilDivide(2n * kappaBps * moved * (received - paid + moved), 10_000n * (received + paid))
  // Callers without a key may hold half of the rewards: each earns half of what twice as much would.
  const exact = costOf(amount) < 0n ? ceilDivide(costOf(2n * amount), 2n) : costOf(amount)
  const cap = -(amount * rewardCapBps) / 10_000n
  return flatMicroUsd + (exact > cap ? exact : cap)
}

function ceilDivide(a: bigint, b: bigint): bigint {
  return a > 0n ? (a + b - 1n) / b : a / b
}

/** Waits until the service sees what the chains hold. */
async function inventoryIsRead(): Promise<void> {
  for (const chain of ['base', 'optimism'] as const) {
    const { chainId } = still.network.chains[chain]
    const key = currencyKey(chainId, currencyAddress(still.network, chain, 'USDC'))
    const balance = await solverBalance(chain)
    await still.refreshesUntil(chain, (snapshot) => {
      const market = snapshot.chain(chainId)
      return !('reason' in market) && market.inventory.get(key) === balance
    })
  }
}

test('after two real fills the emptying direction is dearer and the reverse is a reward', async () => {
  const amount = 10_000n * usdc
  const before = {
    there: await relayerService('base', amount),
    back: await relayerService('optimism', amount),
  }
  // Balances are even at first, so both ways cost the same.
  expect(before.there).toBe(before.back)
  expect(before.there).toBe(await expectedService('base', amount))

  for (const index of [1, 2]) {
    const user = userOf(still.network, index)
    const more = { user: user.address, recipient: user.address }
    const request = { ...bridge('base', 90_000n * usdc), ...more }
    const quoted = await quote(still.url, request)
    await fillForReal(still.network, quoted, { user, from: 'base', to: 'optimism' })
    const paid = BigInt(quoted.details.currencyOut.amount)
    await inventoryIsRead()
    expect(paid).toBeGreaterThan(89_000n * usdc)
  }
  expect((await solverBalance('base')) - (await solverBalance('optimism'))).toBeGreaterThan(359_000n * usdc)
  await still.settle(baseFeeWei)

  const there = await relayerService('base', amount)
  const back = await relayerService('optimism', amount)
  expect(there).toBeGreaterThan(before.there)
  expect(back).toBeLessThan(0n)
  expect(there).toBe(await expectedService('base', amount))
  expect(back).toBe(await expectedService('optimism', amount))
})

test('a reward goes to the user: more comes out than a fill without it would pay', async () => {
  const amount = 10_000n * usdc
  const { fees, details } = await price(still.url, bridge('optimism', amount))
  expect(BigInt(details.currencyOut.amount)).toBe(amount - BigInt(fees.relayer.amount))
  expect(BigInt(fees.relayer.amount)).toBe(
    BigInt(fees.relayerGas.amount) + BigInt(fees.relayerService.amount),
  )
  expect(BigInt(details.currencyOut.amount)).toBeGreaterThan(amount)
  expect(details.totalImpact.usd).not.toMatch(/^-/)
})

test('there and back costs more than it earns', async () => {
  const amount = 50_000n * usdc
  const [there, back] = [await relayerService('base', amount), await relayerService('optimism', amount)]
  expect(there + back).toBeGreaterThan(0n)
})

test('more than the solver may pay out is refused, naming the most it can', async () => {
  const answer = await post(`${still.url}/price`, bridge('base', 5_000_000n * usdc))
  expect(answer.status).toBe(400)
  const { errorCode, errorData } = readError(answer)
  expect(errorCode).toBe('INSUFFICIENT_LIQUIDITY')
  const limits = z.object({ maximumAmount: z.string(), currency: z.string(), chainId: z.number() })
  const { maximumAmount, currency, chainId } = limits.parse(JSON.parse(errorData ?? ''))
  expect([currency, chainId]).toEqual([currencyAddress(still.network, 'base', 'USDC'), 8_453])
  // The balance less its reserve of 5 %.
  const balance = await solverBalance('optimism')
  expect(BigInt(maximumAmount)).toBe(balance - ceilDivide(balance * 500n, 10_000n))
  expect((await post(`${still.url}/price`, bridge('base', BigInt(maximumAmount)))).status).toBe(200)
})
