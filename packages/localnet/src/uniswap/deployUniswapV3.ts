import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Hex } from '@causeway/core'
import { concatHex, encodeAbiParameters, zeroAddress } from 'viem'
import { z } from 'zod'
import type { LocalClients } from '../nodes/clients.ts'
import { factoryAbi } from './abis.ts'
import { deployThroughProxy, hasCode, sendToProxy } from './create2.ts'
import { factoryAddress, factoryCreatorCode } from './factoryDeployer.ts'

/** Addresses of one Uniswap V3, lower case. They depend on `wrappedNative` and on no key. */
export type UniswapV3Deployment = {
  readonly factory: Hex
  readonly swapRouter: Hex
  readonly quoterV2: Hex
  readonly positionManager: Hex
}

const addressPair = [{ type: 'address' }, { type: 'address' }] as const
const addressTriple = [...addressPair, { type: 'address' }] as const

/**
 * Puts the published Uniswap V3 (core 1.0.1, periphery 1.4.4) on a local chain, with the fees 100,
 * 500, 3000 and 10000 enabled. What is already there is left alone, so a second run sends nothing.
 * The position manager gets no token descriptor: `tokenURI` reverts, everything else works.
 *
 * @throws Error when a deployment reverts
 */
export async function deployUniswapV3(
  args: LocalClients & { readonly wrappedNative: Hex },
): Promise<UniswapV3Deployment> {
  const factory = await deployFactory(args)
  const pair = encodeAbiParameters(addressPair, [factory, args.wrappedNative])
  const triple = encodeAbiParameters(addressTriple, [factory, args.wrappedNative, zeroAddress])
  const code = (contract: 'swapRouter' | 'quoterV2' | 'positionManager', constructorArgs: Hex): Hex =>
    concatHex([uniswapBytecode(contract), constructorArgs])
  return {
    factory,
    swapRouter: await deployThroughProxy(args, code('swapRouter', pair), 'the swap router'),
    quoterV2: await deployThroughProxy(args, code('quoterV2', pair), 'the quoter'),
    positionManager: await deployThroughProxy(args, code('positionManager', triple), 'the position manager'),
  }
}

async function deployFactory(clients: LocalClients): Promise<Hex> {
  const initCode = uniswapBytecode('factory')
  const factory = factoryAddress(initCode)
  if (await hasCode(clients, factory)) return factory
  await sendToProxy(clients, factoryCreatorCode(initCode), 'the factory')
  const spacing = await clients.publicClient.readContract({
    address: factory,
    abi: factoryAbi,
    functionName: 'feeAmountTickSpacing',
    args: [100],
  })
  if (spacing !== 1) throw new Error('the factory does not know the 0.01 % fee')
  return factory
}

const artifactSchema = z.object({
  bytecode: z
    .string()
    .regex(/^0x([0-9a-f]{2})+$/)
    // CAST: the pattern above is what Hex says.
    .transform((bytecode) => bytecode as Hex),
  // Empty: the code needs no library's address written into it.
  linkReferences: z.record(z.string(), z.never()),
})

const artifactPaths = {
  factory: '@uniswap/v3-core/artifacts/contracts/UniswapV3Factory.sol/UniswapV3Factory.json',
  quoterV2: '@uniswap/v3-periphery/artifacts/contracts/lens/QuoterV2.sol/QuoterV2.json',
  swapRouter: '@uniswap/v3-periphery/artifacts/contracts/SwapRouter.sol/SwapRouter.json',
  positionManager:
    '@uniswap/v3-periphery/artifacts/contracts/NonfungiblePositionManager.sol/NonfungiblePositionManager.json',
} as const

/**
 * Creation code as Uniswap published it. It is read from the packages at run time and not copied into this
 * repository, because their licences are BUSL and GPL.
 */
export function uniswapBytecode(contract: keyof typeof artifactPaths): Hex {
  const path = createRequire(import.meta.url).resolve(artifactPaths[contract])
  return artifactSchema.parse(JSON.parse(readFileSync(path, 'utf8'))).bytecode
}
