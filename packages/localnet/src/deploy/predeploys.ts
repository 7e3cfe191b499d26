import type { Hex } from '@causeway/core'
import { concatHex, pad, toHex } from 'viem'
import type { Artifacts } from '../contracts/artifacts.ts'
import type { ChainDeployment } from '../contracts/deployment.ts'
import { caliburAddress } from '../contracts/signBatch.ts'
import type { LocalChain } from '../nodes/localChain.ts'
import { caliburRuntimeCode } from './publicContracts.ts'

/** Address on public chains, which clients have built in. */
export const multicall3Address: Hex = '0xca11bde05977b3631167028862be2a173976ca11'
/** The OP stack's predeploy. */
export const gasPriceOracleAddress: Hex = '0x420000000000000000000000000000000000000f'

/** Settings of the OP stack's gas price oracle: what a transaction pays for its bytes on L1, and to the operator. */
export type RollupFees = {
  readonly l1BaseFeeWei: bigint
  readonly blobBaseFeeWei: bigint
  readonly baseFeeScalar: number
  readonly blobBaseFeeScalar: number
  readonly operatorFeeScalar: number
  readonly operatorFeeConstantWei: bigint
}

/** Fees at the start, of the order the real chains have; the keeper may move them. */
export const initialRollupFees: Readonly<Record<ChainDeployment['chainKey'], RollupFees>> = {
  base: {
    l1BaseFeeWei: 20_000_000_000n,
    blobBaseFeeWei: 1_000_000_000n,
    baseFeeScalar: 2_269,
    blobBaseFeeScalar: 1_055_762,
    operatorFeeScalar: 0,
    operatorFeeConstantWei: 0n,
  },
  optimism: {
    l1BaseFeeWei: 20_000_000_000n,
    blobBaseFeeWei: 1_000_000_000n,
    baseFeeScalar: 5_227,
    blobBaseFeeScalar: 1_014_213,
    operatorFeeScalar: 0,
    operatorFeeConstantWei: 0n,
  },
}

export async function placeMulticall3(chain: LocalChain, artifacts: Artifacts): Promise<void> {
  await placeCode(chain, multicall3Address, artifacts.Multicall3.runtimeBytecode)
}

export async function placeCalibur(chain: LocalChain): Promise<void> {
  await placeCode(chain, caliburAddress, caliburRuntimeCode())
}

/** Places the gas price oracle with its storage; one that is already there keeps its fees. */
export async function placeGasPriceOracle(
  chain: LocalChain,
  artifacts: Artifacts,
  { keeper, fees }: { readonly keeper: Hex; readonly fees: RollupFees },
): Promise<void> {
  const address = gasPriceOracleAddress
  const placed = await placeCode(chain, address, artifacts.GasPriceOracle.runtimeBytecode)
  if (!placed) return
  await Promise.all(
    gasPriceOracleStorage(keeper, fees).map((value, index) =>
      chain.node.setStorageAt({ address, index, value }),
    ),
  )
}

/** The storage slots of GasPriceOracle.sol, in order; the last one packs four numbers. */
function gasPriceOracleStorage(keeper: Hex, fees: RollupFees): readonly Hex[] {
  return [
    pad(keeper),
    toHex(fees.l1BaseFeeWei, { size: 32 }),
    toHex(fees.blobBaseFeeWei, { size: 32 }),
    pad(
      concatHex([
        toHex(fees.operatorFeeConstantWei, { size: 8 }),
        toHex(fees.operatorFeeScalar, { size: 4 }),
        toHex(fees.blobBaseFeeScalar, { size: 4 }),
        toHex(fees.baseFeeScalar, { size: 4 }),
      ]),
    ),
  ]
}

/** @returns false when exactly this code was there before */
async function placeCode(chain: LocalChain, address: Hex, bytecode: Hex): Promise<boolean> {
  if ((await chain.client.getCode({ address })) === bytecode) return false
  await chain.node.setCode({ address, bytecode })
  return true
}
