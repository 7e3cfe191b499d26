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
import type { FillContracts } from './fillContracts.ts'

const states: readonly PaymentState[] = ['open', 'paid', 'closed']
const readTimeoutMs = 5_000
const codeTimeoutMs = 2_000

/** The fill contracts' memory of what wallets paid on one chain. */
export type FillMarks = {
  readonly readFinal: (id: Hex) => Promise<FinalMark>
  readonly readFinalOf: (filler: Hex, id: Hex) => Promise<FinalMark>
}

export function createFillMarks(options: {
  readonly client: ChainClient
  readonly finalBlocks: FinalBlocks
  readonly fillContracts: FillContracts
  readonly filler: Hex
}): FillMarks {
  const { client, finalBlocks, fillContracts, filler: own } = options
  async function readFinalOf(filler: Hex, id: Hex): Promise<FinalMark> {
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
    return { state: stateOver(stateAnswers.map(stateIn)), timestampSeconds: timeIn(time) }
  }
  return {
    readFinal: (id) => readFinalOf(own, id),
    readFinalOf,
  }
}

/** An id that one contract has as paid or closed is that for all of them: nothing is paid through a second one. */
function stateOver(said: readonly PaymentState[]): PaymentState {
  return (['paid', 'closed'] as const).find((state) => said.includes(state)) ?? 'open'
}

/** True if an account has code now, as enough endpoints say; undefined if they do not. Never rejects. */
export async function readHasCode(
  client: Pick<ChainClient, 'agree'>,
  account: string,
): Promise<boolean | undefined> {
  const method = 'eth_getCode'
  const codeIn = ([codeAnswer]: readonly RpcAnswer[]) =>
    codeAnswer?.ok === true ? parseBytes(codeAnswer.result, method).length > 2 : undefined
  try {
    const calls = [{ method: method, params: [account, 'latest'] }]
    const { answers } = await client.agree(calls, { timeoutMs: codeTimeoutMs, project: codeIn })
    return codeIn(answers)
  } catch {
    return undefined
  }
}

/** @throws MalformedAnswerError, NodeError: nothing is given back where the contract keeps no record */
function stateIn(answer: RpcAnswer | undefined): PaymentState {
  const method = 'eth_call'
  if (answer?.ok === false) throw new NodeError(answer)
  const word = parseBytes(answer?.result, method)
  const state = word.length === 66 ? states[Number(BigInt(word))] : undefined
  if (state === undefined) throw new MalformedAnswerError(method)
  return state
}

/** @throws MalformedAnswerError */
function timeIn(answer: RpcAnswer | undefined): number {
  const method = 'eth_getBlockByNumber'
  const block = parseRecord(answer?.ok === true ? answer.result : undefined, method)
  return Number(parseQuantity(block['timestamp'], method))
}
