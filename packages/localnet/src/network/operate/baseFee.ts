import type { LocalChain } from '../../nodes/localChain.ts'
import { writeRequestedBaseFee } from '../chainMarker.ts'

/** The network's own transactions offer up to 100 gwei, so the keeper goes on working below this. */
const baseFeeMaxWei = 50_000_000_000n

/**
 * Sets the base fee of a chain and mines a block that has it. While a keeper runs, it holds the fee
 * there; without one the fee falls by an eighth with every empty block. @throws RangeError
 */
export async function setBaseFee(chain: LocalChain, baseFeeWei: bigint): Promise<void> {
  if (baseFeeWei < 1n || baseFeeWei > baseFeeMaxWei) {
    throw new RangeError('a base fee is between 1 wei and 50 gwei here')
  }
  await writeRequestedBaseFee(chain, baseFeeWei)
  await chain.node.setNextBlockBaseFeePerGas({ baseFeePerGas: baseFeeWei })
  await chain.node.mine({ blocks: 1 })
}
