import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Hex } from '@causeway/core'
import { z } from 'zod'

const artifactSchema = z.object({
  bytecode: z
    .string()
    .regex(/^0x([0-9a-f]{2})+$/)
    // CAST: the pattern above is what Hex says.
    .transform((bytecode) => bytecode as Hex),
  linkReferences: z.record(z.string(), z.never()),
})

const artifactPaths = {
  factory: '@uniswap/v3-core/artifacts/contracts/UniswapV3Factory.sol/UniswapV3Factory.json',
  quoterV2: '@uniswap/v3-periphery/artifacts/contracts/lens/QuoterV2.sol/QuoterV2.json',
  swapRouter: '@uniswap/v3-periphery/artifacts/contracts/SwapRouter.sol/SwapRouter.json',
  positionManager:
    '@uniswap/v3-periphery/artifacts/contracts/NonfungiblePositionManager.sol/NonfungiblePositionManager.json',
} as const

/** Creation code as Uniswap published it. Read from disk, because the packages are BUSL and GPL. */
export function uniswapBytecode(contract: keyof typeof artifactPaths): Hex {
  const path = createRequire(import.meta.url).resolve(artifactPaths[contract])
  return artifactSchema.parse(JSON.parse(readFileSync(path, 'utf8'))).bytecode
}
