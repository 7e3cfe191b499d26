import type { DepositFact, Hex } from '@causeway/core'
import { tronAddress } from '@causeway/core/encodings'
import type { EvmLog } from '../../ethereum/reading/answers.ts'
import { findDeposits, needsCalldata } from '../../ethereum/reading/deposits.ts'
import type { TronContract } from './contract.ts'
import type { TronTransaction } from './rawTransaction.ts'

const wordDigits = 64
/** End of the arguments of `transfer` and `transferFrom`, in digits after `0x`, by selector. */
const argumentsEnd = new Map([
  ['a9059cbb', 8 + 2 * wordDigits],
  ['23b872dd', 8 + 3 * wordDigits],
])

/**
 * The deposits of one successful transaction, in on-chain order, by the events and rules of `ethereum-vm`, with
 * addresses in base58. A deposit id is read from calldata only if the transaction calls the transfer itself.
 * @param transaction read only where `needsTransaction` says so
 * @source rules F-123, F-124
 */
export function findTronDeposits(
  logs: readonly EvmLog[],
  depository: TronContract,
  transaction?: Pick<TronTransaction, 'input'>,
): readonly DepositFact[] {
  const appendedWord = transaction && wordAfterTransfer(transaction.input)
  return findDeposits(logs, rulesOf(depository), () => appendedWord).map((deposit) => ({
    ...deposit,
    depository: depository.address,
    depositor: tronAddress(deposit.depositor),
    // TRX is the address of 20 zero bytes.
    currency: tronAddress(deposit.currency),
  }))
}

/** True when the calldata decides about an id. */
export function needsTransaction(logs: readonly EvmLog[], depository: TronContract): boolean {
  return needsCalldata(logs, rulesOf(depository))
}

function rulesOf({ account }: TronContract) {
  // The flag leaves out transfers that only log a payment of native coin; payments of TRX log none.
  return { depository: account, isZksyncStack: false }
}

/** The first word after the arguments of `transfer` or `transferFrom`. */
function wordAfterTransfer(input: Hex): Hex | undefined {
  const start = argumentsEnd.get(input.slice(2, 10))
  if (start === undefined) return undefined
  const word = input.slice(2 + start, 2 + start + wordDigits)
  return word.length === wordDigits ? `0x${word}` : undefined
}
