import type { Hex } from '@causeway/core'
import { MalformedAnswerError } from '@causeway/rpc'
import { unlessMalformed } from '../contracts/abiReader.ts'
import type { ContractAnswer, ContractCall } from '../contracts/multicall.ts'
import { contractInterface } from '../rules/contractInterface.ts'
import { probeTransaction } from './probeTransaction.ts'

/** A typical transaction of one kind, whose data fee is wanted. */
export type ProbedShape = {
  readonly calldata: Hex
  readonly valueWei: bigint
  readonly gasUnits: bigint
}

const oracle = contractInterface([
  'function getL1Fee(bytes transaction) view returns (uint256)',
  'function getOperatorFee(uint256 gasUsed) view returns (uint256)',
])

/**
 * Calls that price the L1 data of each shape on an OP-stack chain: two for each shape, in order. The caller puts them
 * into any multicall and gives their answers to `readL1DataFees`.
 * @source OP-stack GasPriceOracle
 */
export function l1DataFeeCalls(args: {
  readonly chainId: number
  readonly gasPriceOracle: Hex
  readonly shapes: readonly ProbedShape[]
}): readonly ContractCall[] {
  const { chainId, gasPriceOracle: target, shapes } = args
  return shapes.flatMap((shape) => [
    { target, callData: oracle.encode('getL1Fee', [probeTransaction({ chainId, ...shape })]) },
    { target, callData: oracle.encode('getOperatorFee', [shape.gasUnits]) },
  ])
}

/**
 * Wei that a transaction of each shape pays beside its gas: L1 data fee plus operator fee. Chains without an operator
 * fee revert on that call or return nothing; it then counts as zero.
 * @param answers of the calls from `l1DataFeeCalls`
 * @throws MalformedAnswerError when the data fee itself cannot be read
 */
export function readL1DataFees(answers: readonly ContractAnswer[]): readonly bigint[] {
  return Array.from({ length: answers.length / 2 }, (_, shape) => {
    const l1Fee = answers[2 * shape]
    if (l1Fee?.success !== true) throw new MalformedAnswerError('getL1Fee')
    const dataFee = unlessMalformed('getL1Fee', () => oracle.decode('getL1Fee', l1Fee.returnData))
    return dataFee + operatorFee(answers[2 * shape + 1])
  })
}

function operatorFee(answer: ContractAnswer | undefined): bigint {
  const isPresent = answer?.success === true && answer.returnData !== '0x'
  if (!isPresent) return 0n
  return unlessMalformed('getOperatorFee', () => oracle.decode('getOperatorFee', answer.returnData))
}
