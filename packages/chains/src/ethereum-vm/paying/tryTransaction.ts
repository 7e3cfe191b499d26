import { type Hex, maxBigint, minBigint } from '@causeway/core'
import {
  askPaymentVotes,
  type PaymentVoters,
  runSaid,
  type SaidRun,
  saidByVoice,
  type Votes,
} from '../../family/paymentVotes.ts'
import type { RpcAnswer, RpcCall } from '../../rpc/jsonRpc.ts'
import { parseQuantity, resultOf, toQuantity } from '../../rpc/quantity.ts'
import type { Electorate } from '../../rpc/tally.ts'

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

export type Trial =
  /** `gas`: the limit that it succeeded with. */
  | { readonly kind: 'succeeds'; readonly gas: bigint }
  | { readonly kind: 'fails'; readonly reason: string }
  /** The sender's coin does not reach for value and gas at this price. */
  | { readonly kind: 'short' }

/** No transaction may have more. @source EIP-7825 */
const gasMax = 2n ** 24n
/** A limit below it is refused, whatever the call takes. @source EIP-7623, EIP-7976 */
const intrinsicGas = 21_000n
const floorGasPerByte = 64n

/**
 * Has enough endpoints run a transaction as it would be signed: with its sender, value, price and gas limit. The limit is
 * what enough of them estimate, with a margin. So no node alone has it refused, or signed where it fails.
 * @throws UpstreamUnavailableError where too few say the same
 * @source rule P-46
 */
export async function tryTransaction(client: PaymentVoters, transaction: TriedTransaction): Promise<Trial> {
  const call = wireCall(transaction)
  const estimate = await askPaymentVotes(client, [estimateCall(call)], decideEstimate)
  if (typeof estimate !== 'bigint') return failed(estimate)
  if (estimate > gasMax) return { kind: 'fails', reason: 'it takes more gas than a transaction may have' }
  const gas = gasLimit(estimate, transaction.data)
  const run = await askPaymentVotes(client, [runCall({ ...call, gas: toQuantity(gas) })], decideRun)
  return typeof run === 'bigint' ? { kind: 'succeeds', gas } : failed(run)
}

function failed(failure: Failure): Trial {
  return failure === 'short' ? { kind: 'short' } : { kind: 'fails', reason: 'the transaction would revert' }
}

function wireCall({ valueWei, maxFeePerGasWei, maxPriorityFeePerGasWei, ...rest }: TriedTransaction) {
  const { from, to, data, authorizationList } = rest
  return {
    ...{ from, to, data, value: toQuantity(valueWei) },
    maxFeePerGas: toQuantity(maxFeePerGasWei),
    maxPriorityFeePerGas: toQuantity(maxPriorityFeePerGasWei),
    ...(authorizationList !== undefined && { authorizationList }),
  }
}

const estimateCall = (call: object): RpcCall => ({ method: 'eth_estimateGas', params: [call, 'latest'] })
const runCall = (call: object): RpcCall => ({ method: 'eth_call', params: [call, 'latest'] })

/** An estimate is of one block, and the next one may take more. */
function gasLimit(estimate: bigint, data: Hex): bigint {
  const withMargin = minBigint((estimate * 13n) / 10n + 50_000n, gasMax)
  const bytes = BigInt(data.length / 2 - 1)
  return maxBigint(withMargin, intrinsicGas + floorGasPerByte * bytes)
}

type Failure = 'fails' | 'short'

/** Late endpoints are waited for: the lowest estimate of those that are quick may be a lie. */
function decideEstimate(votes: Votes, electorate: Electorate, isLast: boolean): SaidRun<Failure> | undefined {
  if (!isLast) return undefined
  const what = 'eth_estimateGas'
  const said = saidByVoice(
    votes,
    ([answer]) => failureOf(answer) ?? parseQuantity(resultOf(answer, what), what),
  )
  return runSaid(said, electorate)
}

function decideRun(votes: Votes, electorate: Electorate): SaidRun<Failure> | undefined {
  const said = saidByVoice(votes, ([answer]): SaidRun<Failure> => {
    const failure = failureOf(answer)
    // Another error of the node is no vote.
    if (failure === undefined) resultOf(answer, 'eth_call')
    return failure ?? 0n
  })
  return runSaid(said, electorate)
}

/** The node ran the call and it failed; any other error says nothing of the call. */
function failureOf(answer: RpcAnswer | undefined): Failure | undefined {
  if (answer === undefined || answer.ok) return undefined
  const { code, message } = answer
  if (code === 3 || /revert|out ?of ?gas|invalid ?(opcode|jump)|stack ?(over|under)flow/i.test(message))
    return 'fails'
  return /insufficient (funds|balance)|gas required exceeds allowance/i.test(message) ? 'short' : undefined
}
