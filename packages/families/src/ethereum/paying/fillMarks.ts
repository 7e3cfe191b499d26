import type { FinalBlocks, Hex } from '@causeway/core'
import {
  type ChainClient,
  MalformedAnswerError,
  NodeError,
  parseBytes,
  parseQuantity,
  parseRecord,
  type RpcAnswer,
  toQuantity,
} from '@causeway/rpc'
import type { FinalMark, PaymentState } from '../../shared/payingChain.ts'
import { fillContractCalls } from '../rules/fillContract.ts'
import type { FillContracts } from './contractPayingChain.ts'

/** States in the order of the contract's numbers for them. */
const states: readonly PaymentState[] = ['open', 'paid', 'closed']
const readTimeoutMs = 5_000

/**
 * State of a payment id of a wallet in all fill contracts of a chain, at a final block, by agreement of endpoints.
 * @throws DomainError, MalformedAnswerError, NodeError
 */
export async function readFillMark(
  chain: {
    readonly client: ChainClient
    readonly finalBlocks: FinalBlocks
    readonly fillContracts: FillContracts
  },
  filler: Hex,
  id: Hex,
): Promise<FinalMark> {
  const { client, finalBlocks, fillContracts } = chain
  const { number } = await finalBlocks.readNewest({ signal: AbortSignal.timeout(readTimeoutMs) })
  const contracts = await fillContracts()
  const block = toQuantity(number)
  const data = fillContractCalls.encode('stateOf', [filler, id])
  const { answers } = await client.agree(
    [
      { method: 'eth_getBlockByNumber', params: [block, false] },
      ...contracts.map((to) => ({ method: 'eth_call', params: [{ to, data }, block] })),
    ],
    {
      timeoutMs: readTimeoutMs,
      project: ([time, ...stateAnswers]) => [timeIn(time), ...stateAnswers.map(stateIn)],
    },
  )
  const [time, ...stateAnswers] = answers
  return { state: stateOfAll(stateAnswers.map(stateIn)), timestampSeconds: timeIn(time) }
}

/** State over all contracts: an id that one of them has as paid or closed is never paid through another one. */
function stateOfAll(contractStates: readonly PaymentState[]): PaymentState {
  return (['paid', 'closed'] as const).find((state) => contractStates.includes(state)) ?? 'open'
}

/** State in the answer of one contract. @throws MalformedAnswerError, NodeError for any other answer, as of other code */
function stateIn(answer: RpcAnswer | undefined): PaymentState {
  const method = 'eth_call'
  if (answer?.ok === false) throw new NodeError(answer)
  const word = parseBytes(answer?.result, method)
  const state = word.length === 66 ? states[Number(BigInt(word))] : undefined
  if (state === undefined) throw new MalformedAnswerError(method)
  return state
}

/** Unix seconds of the block. @throws MalformedAnswerError */
function timeIn(answer: RpcAnswer | undefined): number {
  const method = 'eth_getBlockByNumber'
  const block = parseRecord(answer?.ok === true ? answer.result : undefined, method)
  return Number(parseQuantity(block['timestamp'], method))
}
