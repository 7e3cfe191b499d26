import type { Hex } from '@causeway/core'
import { type ChainDeployment, forEachFeed, type NetworkDeployment } from '../contracts/deployment.ts'

/** A deployment of made-up, distinct addresses: for tests of rules, it stands on no chain. */
export function testDeployment(): NetworkDeployment {
  let last = 0
  const address = (): Hex => {
    last += 1
    return `0x${last.toString(16).padStart(40, '0')}`
  }
  const chain = <Key extends ChainDeployment['chainKey']>(chainKey: Key, chainId: number) => {
    const wrappedNative = address()
    const tokens = { USDC: address(), USDX: address(), TIDE: address() }
    const pool = (token0: Hex, token1: Hex) => ({
      address: address(),
      token0,
      token1,
      feePips: 500,
      tickSpacing: 10,
    })
    return {
      chainKey,
      chainId,
      depository: address(),
      fillContract: address(),
      cleanupRouter: address(),
      depositRouter: address(),
      depositAddresses: { contract: address(), sweepCodeHash: `0x${'5e'.repeat(32)}` as const },
      permitRouter: { contract: address(), depositCodeHash: `0x${'de'.repeat(32)}` as const },
      permit2Router: address(),
      multicall3: address(),
      wrappedNative,
      gasPriceOracle: address(),
      tokens,
      feeds: forEachFeed(address),
      uniswapV3: {
        factory: address(),
        quoterV2: address(),
        swapRouter: address(),
        positionManager: address(),
        pools: [
          pool(wrappedNative, tokens.USDC),
          pool(tokens.USDC, tokens.USDX),
          pool(tokens.TIDE, wrappedNative),
        ],
      },
    }
  }
  return {
    base: chain('base', 8453),
    optimism: chain('optimism', 10),
    tron: { depository: address(), fillContract: address(), usdc: address() },
    hub: {
      chainId: 537713,
      hub: address(),
      oracle: address(),
      oracleMultisig: address(),
      genericMapping: address(),
      allocator: address(),
      evmPayloadBuilder: address(),
      solanaPayloadBuilder: address(),
      bitcoinPayloadBuilder: address(),
      hyperliquidPayloadBuilder: address(),
      lighterPayloadBuilder: address(),
    },
  }
}
