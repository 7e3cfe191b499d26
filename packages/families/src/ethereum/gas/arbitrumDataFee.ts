import { brotliCompressSync, constants } from 'node:zlib'
import { bpsDenominator, divideUp, type Hex, hexToBytes } from '@causeway/core'
import { MalformedAnswerError } from '@causeway/rpc'
import { unlessMalformed } from '../contracts/abiReader.ts'
import type { ContractAnswer, ContractCall } from '../contracts/multicall.ts'
import { contractInterface } from '../rules/contractInterface.ts'
import type { ProbedShape } from './l1DataFee.ts'
import { probeTransaction } from './probeTransaction.ts'

const gasInfo = contractInterface([
  'function getPricesInWei() view returns (uint256 perTransaction, uint256 perDataByte, uint256 perStorage, uint256 perGasBase, uint256 perGasCongestion, uint256 perGasTotal)',
])

/** One price stands for every shape. @param arbGasInfo the precompile, at the same address on every such chain */
export function arbitrumDataFeeCalls(arbGasInfo: Hex): readonly ContractCall[] {
  return [{ target: arbGasInfo, callData: gasInfo.encode('getPricesInWei', []) }]
}

/**
 * Wei per shape for the data that the chain writes to its parent. The chain takes it as gas, of its own price: a
 * transaction costs its execution's gas and this fee, whatever gas costs.
 * @param bytes charged per shape, see `arbitrumDataBytes`
 * @throws MalformedAnswerError when the price cannot be read: zero would be a guess
 * @source Arbitrum Nitro, ArbGasInfo: the second price is the one of a byte
 */
export function readArbitrumDataFees(
  answers: readonly ContractAnswer[],
  bytes: readonly bigint[],
): readonly bigint[] {
  const [answer] = answers
  if (answer?.success !== true) throw new MalformedAnswerError('getPricesInWei')
  const [, perByteWei] = unlessMalformed('getPricesInWei', () =>
    gasInfo.decode('getPricesInWei', answer.returnData),
  )
  return bytes.map((count) => divideUp(perByteWei * paddedBps(count), bpsDenominator))
}

/**
 * Bytes that a signature adds: r and s with their prefixes, and its parity. It is random, so compression saves none of
 * it.
 */
const signatureBytes = 67n
/** Padding that the chain's own gas estimate adds, because the transaction may differ from the estimated one. */
const padding = { bytes: 16n, bps: 100n }

function paddedBps(bytes: bigint): bigint {
  return (bytes + padding.bytes) * (bpsDenominator + padding.bps)
}

/**
 * Bytes that the chain charges a transaction of the shape for: those of its signed form after compression on its
 * own. Assumed is the fastest compression, which the chain began with; where its owner chose a better one the
 * fee is smaller.
 * @source Arbitrum Nitro, L1 pricing: brotli of the transaction alone
 */
export function arbitrumDataBytes(chainId: number, shape: ProbedShape): bigint {
  const unsigned = hexToBytes(probeTransaction({ chainId, ...shape }))
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MIN_QUALITY }
  return BigInt(brotliCompressSync(unsigned, { params }).length) + signatureBytes
}
