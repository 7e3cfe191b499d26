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

/** The call that reads the price of a data byte. @param arbGasInfo the precompile, the same on all Arbitrum chains */
export function arbitrumDataFeeCalls(arbGasInfo: Hex): readonly ContractCall[] {
  return [{ target: arbGasInfo, callData: gasInfo.encode('getPricesInWei', []) }]
}

/**
 * Fee in wei, per kind of transaction, for the data that the chain writes to its parent chain. The chain charges it as
 * additional gas at the current gas price, so that the fee in wei does not depend on that price.
 * @param bytes charged for each kind, see `arbitrumDataBytes`
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
  return bytes.map((count) => divideUp(perByteWei * paddedBytesInBps(count), bpsDenominator))
}

/**
 * Bytes that a signature adds: r and s of 32 with a prefix byte each, and the parity. Random bytes do not compress.
 */
const signatureBytes = 67n
/** Padding as in the chain's own gas estimate, because the real transaction may differ from the estimated one. */
const padding = { bytes: 16n, bps: 100n }

/** Bytes with padding, times `bpsDenominator`. */
function paddedBytesInBps(bytes: bigint): bigint {
  return (bytes + padding.bytes) * (bpsDenominator + padding.bps)
}

/**
 * Bytes for which the chain charges a transaction of this kind: its signed form, compressed by itself. We assume the
 * fastest compression, the chain's initial setting; if its owner has chosen a better one the fee is lower.
 * @source Arbitrum Nitro, L1 pricing: brotli of the transaction alone
 */
export function arbitrumDataBytes(chainId: number, shape: ProbedShape): bigint {
  const unsigned = hexToBytes(probeTransaction({ chainId, ...shape }))
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MIN_QUALITY }
  return BigInt(brotliCompressSync(unsigned, { params }).length) + signatureBytes
}
