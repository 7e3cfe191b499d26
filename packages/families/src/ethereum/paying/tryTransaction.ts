import { type Hex, maxBigint, minBigint } from '@causeway/core'
import type { Electorate, RpcAnswer, RpcCall } from '@causeway/rpc'
import { parseQuantity, resultOf, toQuantity } from '@causeway/rpc'
import {
  agreeOnRun,
  askPaymentVotes,
  type PaymentVoters,
  type RunAnswer,
  readByVoice,
  type Votes,
} from '../../shared/paymentVotes.ts'
import { isExecutionFailure } from '../agreement/comparableAnswer.ts'

/** A transaction before it has a nonce and a gas limit. */
export type TriedTransaction = {
  readonly from: Hex
  readonly to: Hex
  readonly data: Hex
  readonly valueWei: bigint
  readonly maxFeePerGasWei: bigint
  readonly maxPriorityFeePerGasWei: bigint
  /** EIP-7702, as nodes take it. */
  readonly authorizationList?: readonly object[] | undefined
}

/** Outcome of a simulated transaction. */
export type Trial =
  /** `gas`: the limit that it succeeded with, to be signed. */
  | { readonly kind: 'succeeds'; readonly gas: bigint }
  | { readonly kind: 'fails'; readonly reason: string }
  /** It takes more than `affordableGas`, or its calldata needs a higher limit. */
  | { readonly kind: 'dear'; readonly gas: bigint }
  /** The sender's coin does not reach for value and gas at this price. */
  | { readonly kind: 'short' }

export type GasLimits = {
  /** No transaction may have more gas: one that needs more fails. */
  readonly transactionGasMax: bigint
  /** Gas that can be bought for what may be spent on this one. */
  readonly affordableGas: bigint
}

/** Nodes refuse a gas limit below this base plus the floor for each byte of calldata. @source EIP-7623, EIP-7976 */
const intrinsicGas = 21_000n
const floorGasPerByte = 64n

/**
 * Simulates a transaction on enough endpoints just before it is signed, with its sender, value, price and gas
 * limit:
 * 1. Endpoints estimate its gas, bounded by `transactionGasMax`. A failure on which enough agree ends the
 *    trial.
 * 2. If the estimate, or what nodes demand for the calldata, is above `affordableGas`, it is `dear`.
 * 3. The limit is the estimate plus a margin, not below that demand and at most `affordableGas`.
 * 4. Endpoints run it with exactly this limit, which may lack a part of the margin. It is signed only if
 *    enough succeed.
 *
 * So a single node can neither have a good transaction refused nor a failing one signed. Quotes use another
 * trial, `createPaymentTrials`: it takes one round trip, assumes that the wallet has enough, and yields no
 * gas limit.
 * @throws UpstreamUnavailableError where too few say the same
 * @source rules P-46, P-50
 */
export async function tryTransaction(
  client: PaymentVoters,
  transaction: TriedTransaction,
  { transactionGasMax, affordableGas }: GasLimits,
): Promise<Trial> {
  const call = wireCall(transaction)
  // The bound ends a call that would never return.
  const bounded = { ...call, gas: toQuantity(transactionGasMax) }
  const estimate = await askPaymentVotes(client, [estimateCall(bounded)], decideEstimate(transactionGasMax))
  if (typeof estimate !== 'bigint') return failed(estimate)
  const least = maxBigint(estimate, floorGas(transaction.data))
  if (least > affordableGas) return { kind: 'dear', gas: least }
  const wanted = maxBigint(withMargin(estimate), least)
  const gas = minBigint(wanted, affordableGas)
  const run = await askPaymentVotes(client, [runCall({ ...call, gas: toQuantity(gas) })], decideRun(gas))
  return typeof run === 'bigint' ? { kind: 'succeeds', gas } : failed(run)
}

/** Gas limit for an estimate, which is for one block: a later one may take more, hence 30 % and 50,000 gas above. */
export const withMargin = (estimate: bigint): bigint => (estimate * 13n) / 10n + 50_000n

function failed(failure: Failure): Trial {
  return failure === 'short' ? { kind: 'short' } : { kind: 'fails', reason: 'the transaction would revert' }
}

function wireCall({ valueWei, maxFeePerGasWei, maxPriorityFeePerGasWei, ...rest }: TriedTransaction) {
  const { from, to, data, authorizationList } = rest
  return {
    from,
    to,
    data,
    value: toQuantity(valueWei),
    maxFeePerGas: toQuantity(maxFeePerGasWei),
    maxPriorityFeePerGas: toQuantity(maxPriorityFeePerGasWei),
    ...(authorizationList !== undefined && { authorizationList }),
  }
}

const estimateCall = (call: object): RpcCall => ({ method: 'eth_estimateGas', params: [call, 'latest'] })
const runCall = (call: object): RpcCall => ({ method: 'eth_call', params: [call, 'latest'] })

/** The least gas limit that all chains accept for calldata of this length. */
export const floorGas = (data: Hex): bigint => intrinsicGas + floorGasPerByte * BigInt(data.length / 2 - 1)

type Failure = 'fails' | 'short'

/**
 * Waits for all endpoints, or until late ones have had their time (`isLast`): the first answers could come
 * from nodes that estimate too low.
 */
const decideEstimate =
  (gasAsked: bigint) =>
  (votes: Votes, electorate: Electorate, isLast: boolean): RunAnswer<Failure> | undefined => {
    if (!isLast) return undefined
    const requestName = 'eth_estimateGas'
    const runs = readByVoice(
      votes,
      ([answer]) => failureOf(answer, gasAsked) ?? parseQuantity(resultOf(answer, requestName), requestName),
    )
    return agreeOnRun(runs, electorate)
  }

/** Ends as soon as enough endpoints say the same: the gas limit is fixed by then, and no late answer could raise it. */
const decideRun =
  (gasAsked: bigint) =>
  (votes: Votes, electorate: Electorate): RunAnswer<Failure> | undefined => {
    const runs = readByVoice(votes, ([answer]): RunAnswer<Failure> => {
      const failure = failureOf(answer, gasAsked)
      if (failure !== undefined) return failure
      // Throws for another error of the node, which is no vote.
      resultOf(answer, 'eth_call')
      // Success as a number of units, as `agreeOnRun` counts it; the limit is known already.
      return 0n
    })
    return agreeOnRun(runs, electorate)
  }

/**
 * Failure of the call when the node ran it; `undefined` if it succeeded or the error is the node's own, which
 * callers tell apart by `resultOf`: it throws for an error, so that the endpoint has no vote. A node allows
 * only as much gas as the sender's coin can buy: if that is less than was asked, the coin is `short`; else
 * the call needs more than was asked, and `fails`.
 */
function failureOf(answer: RpcAnswer | undefined, gasAsked: bigint): Failure | undefined {
  if (answer === undefined || answer.ok) return undefined
  const { message } = answer
  const allowance = /gas required exceeds allowance:? \(?(?<gas>\d+)/i.exec(message)?.groups?.['gas']
  if (allowance !== undefined) return BigInt(allowance) < gasAsked ? 'short' : 'fails'
  if (isExecutionFailure(answer)) return 'fails'
  return /insufficient (funds|balance)/i.test(message) ? 'short' : undefined
}
