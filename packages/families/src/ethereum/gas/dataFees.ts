import type { GasModel } from '@causeway/core/config'
import type { ContractAnswer, ContractCall } from '../contracts/multicall.ts'
import { arbitrumDataBytes, arbitrumDataFeeCalls, readArbitrumDataFees } from './arbitrumDataFee.ts'
import { l1DataFeeCalls, type ProbedShape, readL1DataFees } from './l1DataFee.ts'

/** The calls that read a rollup's data fees, and the decoder of their answers. */
export type DataFeeReading = {
  /** For any multicall; their answers go to `read`. */
  readonly calls: readonly ContractCall[]
  /**
   * Wei for each kind of transaction, in the order of `shapes`; empty on a chain without data fee.
   * @throws MalformedAnswerError when a fee cannot be read
   */
  read(answers: readonly ContractAnswer[]): readonly bigint[]
  /** True if the chain charges the fee as gas, which the gas limits of transactions must then include. */
  readonly isGas: boolean
}

/** Plans the reading of data fees for each kind of transaction (`shapes`). Sizes are computed here, once. */
export function planDataFees(args: {
  readonly chainId: number
  readonly feeModel: Pick<GasModel, 'kind' | 'gasPriceOracle'>
  readonly shapes: readonly ProbedShape[]
}): DataFeeReading {
  const { chainId, shapes } = args
  const { kind, gasPriceOracle } = args.feeModel
  if (gasPriceOracle !== undefined && kind === 'op-stack') {
    const calls = l1DataFeeCalls({ chainId, gasPriceOracle, shapes })
    return { calls, read: readL1DataFees, isGas: false }
  }
  // On Arbitrum the setting names the precompile ArbGasInfo.
  if (gasPriceOracle !== undefined && kind === 'arbitrum') {
    const bytes = shapes.map((shape) => arbitrumDataBytes(chainId, shape))
    return {
      calls: arbitrumDataFeeCalls(gasPriceOracle),
      read: (answers) => readArbitrumDataFees(answers, bytes),
      isGas: true,
    }
  }
  return { calls: [], read: () => [], isGas: false }
}
