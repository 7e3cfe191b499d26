import {
  type ChainClient,
  MalformedAnswerError,
  NodeError,
  parseBytes,
  parseQuantity,
  parseRecord,
  type RpcAnswer,
  toQuantity,
} from '@causeway/chains'
import { fillContractAbi } from '@causeway/contracts'
import type { FinalBlocks, Hex } from '@causeway/core'
import { encodeFunctionData } from 'viem'
import type { PlannedTransaction } from '../work/relays.ts'

/** What the fill contract says of one id of one filler. */
export type PaymentState = 'open' | 'paid' | 'closed'

/** By agreement of the chain's endpoints at one final block: nothing can change it back. */
export type FinalRecord = {
  readonly state: PaymentState
  /** Of that block. */
  readonly timestampSeconds: number
}

/** The fill contract's own memory of what the fill wallet paid, which no restored database and no lease can lose. */
export interface PaymentRecord {
  /** @throws DomainError where endpoints are silent or contradict each other */
  readFinal(id: Hex): Promise<FinalRecord>
  /** What it remembers of another wallet. @throws the same */
  readFinalOf(filler: Hex, id: Hex): Promise<FinalRecord>
  /** After it nobody can pay this id for this wallet any more. */
  closing(id: Hex): PlannedTransaction
}

const abi = fillContractAbi
const states: readonly PaymentState[] = ['open', 'paid', 'closed']
const readTimeoutMs = 5_000

export function createPaymentRecord(options: {
  readonly client: ChainClient
  readonly finalBlocks: FinalBlocks
  readonly fillContract: Hex
  readonly filler: Hex
}): PaymentRecord {
  const { client, finalBlocks, fillContract, filler: own } = options
  async function readFinalOf(filler: Hex, id: Hex): Promise<FinalRecord> {
    const { number } = await finalBlocks.readNewest({ signal: AbortSignal.timeout(readTimeoutMs) })
    const block = toQuantity(number)
    const data = encodeFunctionData({ abi, functionName: 'stateOf', args: [filler, id] })
    const { answers } = await client.agree(
      [
        { method: 'eth_call', params: [{ to: fillContract, data }, block] },
        { method: 'eth_getBlockByNumber', params: [block, false] },
      ],
      { timeoutMs: readTimeoutMs, project: (said) => [stateIn(said[0]), timeIn(said[1])] },
    )
    return { state: stateIn(answers[0]), timestampSeconds: timeIn(answers[1]) }
  }
  return {
    readFinal: (id) => readFinalOf(own, id),
    readFinalOf,
    closing: (id) => ({
      to: fillContract,
      data: encodeFunctionData({ abi, functionName: 'close', args: [id] }),
      valueWei: 0n,
    }),
  }
}

/** @throws MalformedAnswerError, NodeError: nothing is given back where the contract keeps no record */
function stateIn(answer: RpcAnswer | undefined): PaymentState {
  const what = 'eth_call'
  if (answer?.ok === false) throw new NodeError(answer)
  const word = parseBytes(answer?.result, what)
  const state = word.length === 66 ? states[Number(BigInt(word))] : undefined
  if (state === undefined) throw new MalformedAnswerError(what)
  return state
}

/** @throws MalformedAnswerError */
function timeIn(answer: RpcAnswer | undefined): number {
  const what = 'eth_getBlockByNumber'
  const block = parseRecord(answer?.ok === true ? answer.result : undefined, what)
  return Number(parseQuantity(block['timestamp'], what))
}
