import type { Hex } from '@causeway/core'
import type { ChainDeployment, HubDeployment } from '../contracts/deployment.ts'
import type { LocalChain } from '../nodes/localChain.ts'

/** Every address of a deployment that must hold code. */
function contractAddresses(deployment: ChainDeployment | HubDeployment): readonly Hex[] {
  if ('hub' in deployment) {
    const { hub, oracle, oracleMultisig, genericMapping, allocator } = deployment
    const { evmPayloadBuilder, solanaPayloadBuilder, bitcoinPayloadBuilder } = deployment
    const { hyperliquidPayloadBuilder, lighterPayloadBuilder } = deployment
    return [
      ...[hub, oracle, oracleMultisig, genericMapping, allocator],
      ...[evmPayloadBuilder, solanaPayloadBuilder, bitcoinPayloadBuilder],
      ...[hyperliquidPayloadBuilder, lighterPayloadBuilder],
    ]
  }
  const { depository, fillContract, depositRouter, depositAddresses } = deployment
  const { permitRouter, multicall3, wrappedNative, gasPriceOracle } = deployment
  const { factory, quoterV2, swapRouter, positionManager, pools } = deployment.uniswapV3
  return [
    ...[depository, fillContract, depositRouter, depositAddresses.contract],
    ...[permitRouter.contract, multicall3, wrappedNative, gasPriceOracle],
    ...Object.values(deployment.tokens),
    ...Object.values(deployment.feeds),
    ...[factory, quoterV2, swapRouter, positionManager],
    ...pools.map((pool) => pool.address),
  ]
}

/** True when every contract is there, so that nothing needs to be deployed. */
export async function isDeployed(
  chain: LocalChain,
  deployment: ChainDeployment | HubDeployment,
): Promise<boolean> {
  const codes = await Promise.all(
    contractAddresses(deployment).map((address) => chain.client.getCode({ address })),
  )
  return codes.every((code) => code !== undefined && code !== '0x')
}
