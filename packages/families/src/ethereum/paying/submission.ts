import { UpstreamUnavailableError } from '@causeway/core'
import { type ChainClient, NodeError, type RpcCall, toQuantity } from '@causeway/rpc'
import type { ContractPayingFamily, SignedTransaction } from './contractPayingChain.ts'

const answerTimeoutMs = 5_000

/** Sends transactions to the submit endpoint alone if there is one, else to all endpoints of the chain. @source rule P-55 */
export class Submission {
  readonly #client: ChainClient
  readonly #submit: ChainClient | undefined
  /** Failure of the submit endpoint in its last use; undefined if it answered, or if there is none. */
  failure: UpstreamUnavailableError | undefined

  constructor(client: ChainClient, submit: ChainClient | undefined) {
    this.#client = client
    this.#submit = submit
  }

  /**
   * Asks each endpoint that transactions are sent to.
   * @returns the answers that came
   * @throws UpstreamUnavailableError where none answers
   */
  async ask(call: RpcCall) {
    const submit = this.#submit
    const endpointAnswers = await (submit ?? this.#client).askEach([call], { timeoutMs: answerTimeoutMs })
    const answered = endpointAnswers.flatMap(({ voice, answers: [answer] = [] }) =>
      answer === undefined ? [] : [{ voice, answer }],
    )
    const silence =
      submit === undefined
        ? 'No endpoint took the transaction.'
        : `The submit endpoint of chain ${this.#client.chainId} does not answer.`
    const failure = answered.length > 0 ? undefined : new UpstreamUnavailableError(silence)
    if (submit !== undefined) this.failure = failure
    if (failure !== undefined) throw failure
    return answered
  }

  /** @see ContractPayingChain.broadcast */
  async broadcast({ raw }: Pick<SignedTransaction, 'raw'>): Promise<void> {
    const answers = await this.ask({ method: 'eth_sendRawTransaction', params: [raw] })
    if (answers.some(({ answer }) => answer.ok || isKnown(answer.message))) return
    const refusals = answers.flatMap(({ voice, answer }) => (answer.ok ? [] : [{ voice, ...answer }]))
    const [refusal] = refusals
    if (refusal === undefined) throw new Error('what is not taken is refused')
    const finalRefusals = refusals.filter(({ message }) => isNeverTaken(message))
    // One node's refusal is not enough to give a transaction up, and the submit endpoint is one node.
    const finalVoices = new Set(finalRefusals.map(({ voice }) => voice))
    const isAgreed = finalVoices.size >= this.#client.electorate.threshold
    if (this.#submit === undefined && isAgreed)
      throw new NeverTakenError(finalRefusals[0]?.message ?? refusal.message)
    throw new NodeError(refusal)
  }
}

/** @see ContractPayingFamily.askSubmit */
export const askSubmit: ContractPayingFamily['askSubmit'] = async (submit, chainId) => {
  const [endpoint] = await submit.askEach([{ method: 'eth_chainId', params: [] }])
  if (endpoint?.answers === undefined) return 'silent'
  const [answer] = endpoint.answers
  const isOther =
    answer?.ok === true && chainId !== undefined && answer.result !== toQuantity(BigInt(chainId))
  return isOther ? 'of-another-chain' : 'fits'
}

/** No node takes these bytes, now or later: they break rules of blocks or transactions. */
export class NeverTakenError extends Error {
  constructor(message: string) {
    super(`no node takes the transaction: ${message}`)
    this.name = 'NeverTakenError'
  }
}

/** True for a refusal that holds for ever, in the words of the known clients; a price or a balance may change. */
function isNeverTaken(message: string): boolean {
  return /block ?gas ?limit|gas ?limit ?(too high|exceeded)|intrinsic ?gas|floor (data )?gas|oversized|configured cap|type not supported|invalid (sender|signature)/i.test(
    message,
  )
}

/** True if the node has the transaction already, or its nonce is used: sending it again is no failure. */
function isKnown(message: string): boolean {
  return /already (imported|known)|known transaction|nonce too low/i.test(message)
}
