import { UpstreamUnavailableError } from '@causeway/core'
import { type ChainClient, NodeError, type RpcCall, toQuantity } from '@causeway/rpc'
import type { ContractPayingFamily, SignedTransaction } from './contractPayingChain.ts'

const readTimeoutMs = 5_000

/** Sender of transactions: to the submit endpoint alone, if there is one. @source rule P-55 */
export class Submission {
  readonly #client: ChainClient
  readonly #submit: ChainClient | undefined
  /** Failure of the submit endpoint in its last use. */
  failure: UpstreamUnavailableError | undefined

  constructor(client: ChainClient, submit: ChainClient | undefined) {
    this.#client = client
    this.#submit = submit
  }

  /** Asks each endpoint that takes transactions. @throws UpstreamUnavailableError where none answers */
  async ask(call: RpcCall) {
    const submit = this.#submit
    const endpointAnswers = await (submit ?? this.#client).askEach([call], { timeoutMs: readTimeoutMs })
    const said = endpointAnswers.flatMap(({ voice, answers: [answer] = [] }) =>
      answer === undefined ? [] : [{ voice, answer }],
    )
    const silence =
      submit === undefined
        ? 'No endpoint took the transaction.'
        : `The submit endpoint of chain ${this.#client.chainId} does not answer.`
    const failure = said.length > 0 ? undefined : new UpstreamUnavailableError(silence)
    if (submit !== undefined) this.failure = failure
    if (failure !== undefined) throw failure
    return said
  }

  async broadcast({ raw }: Pick<SignedTransaction, 'raw'>): Promise<void> {
    const answers = await this.ask({ method: 'eth_sendRawTransaction', params: [raw] })
    if (answers.some(({ answer }) => answer.ok || isKnown(answer.message))) return
    const refusals = answers.flatMap(({ voice, answer }) => (answer.ok ? [] : [{ voice, ...answer }]))
    const [refusal] = refusals
    if (refusal === undefined) throw new Error('what is not taken is refused')
    const forGood = refusals.filter(({ message }) => isNeverTaken(message))
    // A single node's refusal gives no transaction up, and so the submit endpoint's does not.
    const isAgreed = new Set(forGood.map(({ voice }) => voice)).size >= this.#client.electorate.threshold
    if (this.#submit === undefined && isAgreed)
      throw new NeverTakenError(forGood[0]?.message ?? refusal.message)
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

/** No node takes these bytes, now or later. */
export class NeverTakenError extends Error {
  constructor(message: string) {
    super(`no node takes the transaction: ${message}`)
    this.name = 'NeverTakenError'
  }
}

/** Rules of blocks and transactions that these bytes break, as clients word them; a price or a balance may change. */
function isNeverTaken(message: string): boolean {
  return /block ?gas ?limit|gas ?limit ?(too high|exceeded)|intrinsic ?gas|floor (data )?gas|oversized|configured cap|type not supported|invalid (sender|signature)/i.test(
    message,
  )
}

function isKnown(message: string): boolean {
  return /already (imported|known)|known transaction|nonce too low/i.test(message)
}
