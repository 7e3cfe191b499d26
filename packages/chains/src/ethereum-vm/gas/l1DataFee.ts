import { type Hex, uintWord } from '@causeway/core'
import { MalformedAnswerError } from '../../rpc/malformedAnswer.ts'
import { readUintResult } from '../contracts/abiReader.ts'
import type { ContractAnswer, ContractCall } from '../contracts/multicall.ts'
import { probeTransaction } from './probeTransaction.ts'

/** One kind of transaction whose data fee is wanted. */
export type ProbedShape = {
  readonly calldata: Hex
  readonly valueWei: bigint
  readonly gasUnits: bigint
}

/** `getL1Fee(bytes)` */
const l1FeeSelector = '0x49948e0e'
/** `getOperatorFee(uint256)` */
const operatorFeeSelector = '0x275aedd2'

/**
 * Calls that price the L1 data of every shape on an OP-stack chain: two per shape, in order. Put them in
 * any multicall and hand their answers to `readL1DataFees`.
 * @source pricing-engine.md 1.3; OP-stack GasPriceOracle
 */
export function l1DataFeeCalls(args: {
  readonly chainId: number
  readonly gasPriceOracle: Hex
  readonly shapes: readonly ProbedShape[]
}): readonly ContractCall[] {
  const { chainId, gasPriceOracle: target, shapes } = args
  return shapes.flatMap((shape) => [
    { target, callData: encodeL1Fee(probeTransaction({ chainId, ...shape })) },
    { target, callData: `${operatorFeeSelector}${uintWord(shape.gasUnits)}` as const },
  ])
}

/**
 * Wei per shape that the transaction pays beside its own gas: L1 data fee plus operator fee. Chains
 * without an operator fee revert on it, which means zero and never drops the data fee.
 * @param answers of the calls from `l1DataFeeCalls`
 * @throws MalformedAnswerError when the data fee itself cannot be read
 */
export function readL1DataFees(answers: readonly ContractAnswer[]): readonly bigint[] {
  return Array.from({ length: answers.length / 2 }, (_, shape) => {
    const l1Fee = answers[2 * shape]
    if (l1Fee?.success !== true) throw new MalformedAnswerError('getL1Fee')
    return readUintResult(l1Fee.returnData, 'getL1Fee') + operatorFee(answers[2 * shape + 1])
  })
}

function operatorFee(answer: ContractAnswer | undefined): bigint {
  const isPresent = answer?.success === true && answer.returnData !== '0x'
  return isPresent ? readUintResult(answer.returnData, 'getOperatorFee') : 0n
}

function encodeL1Fee(transaction: Hex): Hex {
  const digits = transaction.slice(2)
  const padded = digits.padEnd(Math.ceil(digits.length / 64) * 64, '0')
  return `${l1FeeSelector}${uintWord(32n)}${uintWord(BigInt(digits.length / 2))}${padded}`
}
