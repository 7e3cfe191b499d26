// Goal: one call brings three fresh nodes to the state every other part of the project starts from, a
// second call changes nothing, and no address depends on a key. Method: real nodes.

import { depositoryAbi, hubAbi, hubOracleAbi } from '@causeway/contracts'
import { sqrtPriceX96FromAmounts } from '@causeway/core'
import { erc20Abi, maxUint256 } from 'viem'
import { generatePrivateKey } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tokenAbi } from '../src/contracts/abis.generated.ts'
import { loadArtifacts } from '../src/contracts/artifacts.ts'
import type { ChainDeployment, NetworkDeployment, PoolDeployment } from '../src/contracts/deployment.ts'
import { localChainIds } from '../src/contracts/deployment.ts'
import { userChainPlan } from '../src/deploy/contractPlan.ts'
import { deployMissing } from '../src/deploy/deployContracts.ts'
import { deployNetwork } from '../src/deploy/deployNetwork.ts'
import { deployUserChain } from '../src/deploy/deployUserChain.ts'
import { fundNative } from '../src/deploy/fundAccounts.ts'
import { userChainGrants } from '../src/deploy/funding.ts'
import { amountWorth, type PooledToken, poolPlans } from '../src/deploy/poolPlan.ts'
import { placeMulticall3 } from '../src/deploy/predeploys.ts'
import { generateLocalKeys } from '../src/keys/generateKeys.ts'
import { type Anvil, startAnvil } from '../src/nodes/anvil.ts'
import { connectLocalChain, type LocalChain } from '../src/nodes/localChain.ts'
import { poolAbi, quoterV2Abi } from '../src/uniswap/abis.ts'

const unit6 = 10n ** 6n
const unit18 = 10n ** 18n
const keys = generateLocalKeys(generatePrivateKey)

let nodes: readonly Anvil[] = []
let chains: readonly LocalChain[]
let deployment: NetworkDeployment

async function deploy(): Promise<NetworkDeployment> {
  const url = (chainId: number) => nodes.find((node) => node.chainId === chainId)?.url ?? ''
  return deployNetwork({
    baseUrl: url(localChainIds.base),
    optimismUrl: url(localChainIds.optimism),
    hubUrl: url(localChainIds.hub),
    keys,
  })
}

beforeAll(async () => {
  nodes = await Promise.all(Object.values(localChainIds).map((chainId) => startAnvil({ chainId })))
  chains = nodes.map(({ url, chainId }) => connectLocalChain(url, chainId))
  deployment = await deploy()
})
afterAll(() => Promise.all(nodes.map((node) => node.stop())))

function chainOf(chainId: number): LocalChain {
  const chain = chains.find((candidate) => candidate.chainId === chainId)
  if (chain === undefined) throw new Error(`no chain ${chainId}`)
  return chain
}

const userChains = [
  ['base', () => deployment.base],
  ['optimism', () => deployment.optimism],
] as const

/** Every address in a deployment, wherever it stands. */
function addressesIn(value: unknown): readonly `0x${string}`[] {
  const found = JSON.stringify(value).match(/0x[0-9a-fA-F]{40}(?![0-9a-fA-F])/g) ?? []
  // CAST: the pattern above is what the type says.
  return found as unknown as readonly `0x${string}`[]
}

describe('the addresses', () => {
  test('are the same on both user chains', () => {
    const { chainKey, chainId, ...rest } = deployment.base
    expect({ ...deployment.optimism, chainKey, chainId }).toEqual({ chainKey, chainId, ...rest })
    expect([deployment.base.chainId, deployment.optimism.chainId]).toEqual([8453, 10])
  })

  test.each(['base', 'optimism', 'hub'] as const)('all have code on %s and are lower case', async (key) => {
    const { client } = chainOf(deployment[key].chainId)
    const addresses = addressesIn(deployment[key])
    expect(addresses.length).toBeGreaterThanOrEqual(4)
    for (const address of addresses) {
      expect(address).toBe(address.toLowerCase())
      expect([address, (await client.getCode({ address }))?.startsWith('0x')]).toEqual([address, true])
    }
  })

  test('do not depend on keys', async () => {
    const node = await startAnvil({ chainId: localChainIds.base })
    try {
      const others = await deployUserChain(connectLocalChain(node.url, node.chainId), 'base', {
        artifacts: await loadArtifacts(),
        keys: generateLocalKeys(generatePrivateKey),
      })
      expect(others).toEqual(deployment.base)
    } finally {
      await node.stop()
    }
  })
})

describe.each(userChains)('%s', (_name, chain) => {
  const read = () => chainOf(chain().chainId).client
  const balance = (token: keyof ChainDeployment['tokens'], holder: `0x${string}`) =>
    read().readContract({
      address: chain().tokens[token],
      abi: erc20Abi,
      functionName: 'balanceOf',
      args: [holder],
    })

  test('the solver, the sponsor and every user are funded', async () => {
    const { fillWallet, sponsor, users } = keys
    expect(await balance('USDC', fillWallet.address)).toBe(2_000_000n * unit6)
    expect(await balance('USDX', fillWallet.address)).toBe(1_000_000n * unit6)
    expect(await balance('USDC', sponsor.address)).toBe(1_000_000n * unit6)
    expect(await balance('TIDE', sponsor.address)).toBeGreaterThan(0n)
    expect(await read().getBalance({ address: sponsor.address })).toBe(10_000n * unit18)
    expect(users.length).toBeGreaterThanOrEqual(6)
    for (const { address } of users) {
      expect(await read().getBalance({ address })).toBe(1_000n * unit18)
      expect(await balance('USDC', address)).toBe(100_000n * unit6)
    }
  })

  test('the solver lets the fill contract spend, and nobody else', async () => {
    const allowance = (spender: `0x${string}`) =>
      read().readContract({
        address: chain().tokens.USDC,
        abi: erc20Abi,
        functionName: 'allowance',
        args: [keys.fillWallet.address, spender],
      })
    expect(await allowance(chain().fillContract)).toBe(maxUint256)
    expect(await allowance(chain().depository)).toBe(0n)
  })

  test('the deployer owns the tokens, and the allocator signer alone lets the depository pay', async () => {
    const owner = await read().readContract({
      address: chain().tokens.TIDE,
      abi: tokenAbi,
      functionName: 'owner',
    })
    const allocator = await read().readContract({
      address: chain().depository,
      abi: depositoryAbi,
      functionName: 'allocator',
    })
    expect([owner.toLowerCase(), allocator.toLowerCase()]).toEqual([
      keys.deployer.address,
      keys.allocator.address,
    ])
  })

  test.each(poolPlans.map((plan) => ({ pool: `${plan.tokenA}/${plan.tokenB} at ${plan.feePips}`, plan })))(
    'the pool $pool starts at the prices of the feeds and takes 10,000 USD within 1 %',
    async ({ plan }) => {
      const tokens = { WETH: chain().wrappedNative, ...chain().tokens }
      const nameOf = (address: string) =>
        ([plan.tokenA, plan.tokenB] as const).find((name) => tokens[name] === address)
      const pool = chain().uniswapV3.pools.find(
        ({ token0, token1, feePips }) => nameOf(token0) && nameOf(token1) && feePips === plan.feePips,
      )
      const [name0, name1] = [nameOf(pool?.token0 ?? ''), nameOf(pool?.token1 ?? '')]
      if (pool === undefined || name0 === undefined || name1 === undefined) throw new Error('no such pool')

      const amount0 = amountWorth(name0, 1_000_000n)
      const amount1 = amountWorth(name1, 1_000_000n)
      const [sqrtPriceX96] = await read().readContract({
        address: pool.address,
        abi: poolAbi,
        functionName: 'slot0',
      })
      expect(sqrtPriceX96).toBe(sqrtPriceX96FromAmounts({ amount0, amount1 }))
      for (const tokenIn of [name0, name1]) {
        const after = await sqrtPriceAfter(pool, tokenIn, tokens)
        const [high, low] = after > sqrtPriceX96 ? [after, sqrtPriceX96] : [sqrtPriceX96, after]
        expect(high).toBeGreaterThan(low)
        expect(high * high * 100n).toBeLessThan(low * low * 101n)
      }
    },
  )

  async function sqrtPriceAfter(
    pool: PoolDeployment,
    tokenIn: PooledToken,
    tokens: Readonly<Record<PooledToken, `0x${string}`>>,
  ): Promise<bigint> {
    const { result } = await read().simulateContract({
      address: chain().uniswapV3.quoterV2,
      abi: quoterV2Abi,
      functionName: 'quoteExactInputSingle',
      args: [
        {
          tokenIn: tokens[tokenIn],
          tokenOut: tokens[tokenIn] === pool.token0 ? pool.token1 : pool.token0,
          amountIn: amountWorth(tokenIn, 10_000n),
          fee: pool.feePips,
          sqrtPriceLimitX96: 0n,
        },
      ],
    })
    return result[1]
  }
})

describe('the hub', () => {
  test('gives its ledger to the oracle contract and the oracle contract to the multisig', async () => {
    const { hub, oracle, oracleMultisig, chainId } = deployment.hub
    const { client } = chainOf(chainId)
    const hubRole = await client.readContract({ address: hub, abi: hubAbi, functionName: 'OPERATOR_ROLE' })
    const oracleRole = await client.readContract({
      address: oracle,
      abi: hubOracleAbi,
      functionName: 'ORACLE_ROLE',
    })
    const isOperator = client.readContract({
      address: hub,
      abi: hubAbi,
      functionName: 'hasRole',
      args: [hubRole, oracle],
    })
    const isOracle = client.readContract({
      address: oracle,
      abi: hubOracleAbi,
      functionName: 'hasRole',
      args: [oracleRole, oracleMultisig],
    })
    expect(await Promise.all([isOperator, isOracle])).toEqual([true, true])
  })
})

describe('deploying again', () => {
  test('answers the same and sends nothing', async () => {
    const heads = () => Promise.all(chains.map(({ client }) => client.getBlockNumber()))
    const before = await heads()
    expect(await deploy()).toEqual(deployment)
    expect(await heads()).toEqual(before)
  })

  test('completes a deployment that stopped halfway', async () => {
    const node = await startAnvil({ chainId: localChainIds.base })
    try {
      const chain = connectLocalChain(node.url, node.chainId)
      const artifacts = await loadArtifacts()
      const plan = userChainPlan(artifacts)
      await placeMulticall3(chain, artifacts)
      await fundNative(chain, userChainGrants(keys))
      await deployMissing(chain, keys.deployer, [plan.tokens.USDX, plan.feeds['ETH/USD']])
      expect(await deployUserChain(chain, 'base', { artifacts, keys })).toEqual(deployment.base)
    } finally {
      await node.stop()
    }
  })

  test('names the transaction that reverted', async () => {
    const { USDC } = deployment.base.tokens
    const refused = chainOf(localChainIds.base).send(keys.keeper, [
      { what: 'a gift', to: keys.custody.address, valueWei: 1n },
      { what: 'nonsense', to: USDC, data: '0xdeadbeef' },
    ])
    await expect(refused).rejects.toThrow('reverted on chain 8453: nonsense')
  })
})
