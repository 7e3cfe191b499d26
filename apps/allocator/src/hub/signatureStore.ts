import {
  type Hex,
  minBigint,
  type Signer,
  UpstreamDisagreementError,
  UpstreamUnavailableError,
} from '@causeway/core'
import type { ChainClient } from '@causeway/rpc'
import { serializeTransaction } from 'viem'
import { storeSignatureData } from './allocatorContract.ts'

/** A signature of a payload's hash that is to be stored in the allocator's contract. */
export type Storing = { readonly payloadId: Hex; readonly hash: Hex; readonly signature: Hex }

/** Stores signatures in the allocator's contract, by transactions of the allocator's own key. */
export interface SignatureStore {
  /**
   * Sends one transaction per signature, all at once, and waits until they are mined.
   * @throws Error when they are not mined in time, gas is too dear, or every node refuses. The caller then
   * forgets these signatures and makes missing ones again. The next call takes the first nonce that is not
   * mined, so it replaces what still waits, maybe by another signature: only one transaction per nonce is
   * mined. Its price is raised if not one of the last call's transactions was mined. After a part was mined
   * it is the plain price, which nodes may refuse as too low for a replacement; the call after that begins
   * with the same nonce, and raises it.
   */
  store(signatures: readonly Storing[], options: { readonly signal: AbortSignal }): Promise<void>
  /** Gas balance of the key's account in wei, by agreement of endpoints; `undefined` without it. */
  gasBalanceWei(): Promise<bigint | undefined>
}

/** Gas limit of a transaction; storing 65 bytes takes some 120,000. */
const gasLimit = 400_000n
const minedTimeoutMs = 20_000
const pollMs = 100

type SignatureStoreOptions = {
  readonly client: Pick<ChainClient, 'agree' | 'askEach'>
  readonly chainId: number
  readonly allocator: Hex
  readonly signer: Signer
  readonly maxFeePerGasWei: bigint
}

type GasPrice = { readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint }

export const createSignatureStore = (options: SignatureStoreOptions): SignatureStore =>
  new ContractSignatureStore(options)

class ContractSignatureStore implements SignatureStore {
  readonly #options: SignatureStoreOptions
  /** First nonce of the last `store`, and how many calls in a row before it began with the same one. */
  #lastCall = { firstNonce: -1, failedTries: 0 }

  constructor(options: SignatureStoreOptions) {
    this.#options = options
  }

  async store(signatures: readonly Storing[], { signal }: { readonly signal: AbortSignal }): Promise<void> {
    if (signatures.length === 0) return
    const firstNonce = await this.#minedCount()
    const price = await this.#priceFor(firstNonce)
    for (const [index, storing] of signatures.entries()) {
      await this.#send(storing, firstNonce + index, price, signal)
    }
    const deadlineMs = performance.now() + minedTimeoutMs
    while (performance.now() < deadlineMs && !signal.aborted) {
      if ((await this.#minedCount().catch(ignoreDisagreement)) >= firstNonce + signatures.length) return
      await new Promise((resolve) => setTimeout(resolve, pollMs))
    }
    signal.throwIfAborted()
    throw new Error('signatures were sent and are not mined yet')
  }

  async gasBalanceWei(): Promise<bigint | undefined> {
    const { signer } = this.#options
    return this.#medianAnswer('eth_getBalance', [signer.address, 'latest'])
  }

  /** Number of the key's mined transactions: its next nonce. */
  async #minedCount(): Promise<number> {
    const { client, signer } = this.#options
    const call = { method: 'eth_getTransactionCount', params: [signer.address, 'latest'] }
    const { answers } = await client.agree([call])
    return Number(quantityOf(answers[0]))
  }

  /** Price of a call's transactions. It bids more if it begins with the last call's nonce: none was mined. */
  async #priceFor(firstNonce: number): Promise<GasPrice> {
    const { maxFeePerGasWei } = this.#options
    const isRepeated = this.#lastCall.firstNonce === firstNonce
    this.#lastCall = { firstNonce, failedTries: isRepeated ? this.#lastCall.failedTries + 1 : 0 }
    const medianWei = await this.#medianAnswer('eth_gasPrice', [])
    if (medianWei === undefined) throw new Error('no endpoint tells the price of gas')
    if (medianWei > maxFeePerGasWei) throw new Error('gas is dearer than maxFeePerGasWei')
    return bid(medianWei, this.#lastCall.failedTries, maxFeePerGasWei)
  }

  async #medianAnswer(method: string, params: readonly string[]): Promise<bigint | undefined> {
    const endpointAnswers = await this.#options.client.askEach([{ method, params }])
    return medianOf(
      endpointAnswers.flatMap(({ answers }) => (answers?.[0]?.ok ? [quantityOf(answers[0])] : [])),
    )
  }

  async #send(storing: Storing, nonce: number, price: GasPrice, signal: AbortSignal): Promise<void> {
    const { client, chainId, allocator, signer } = this.#options
    const transaction = {
      type: 'eip1559',
      chainId,
      nonce,
      to: allocator,
      data: storeSignatureData(storing.payloadId, storing.hash, storing.signature),
      gas: gasLimit,
      ...price,
    } as const
    const unsigned = serializeTransaction(transaction)
    const signature = await signer.sign({ purpose: 'transaction', unsigned }, { signal })
    const raw = serializeTransaction(transaction, partsOf(signature))
    signal.throwIfAborted()
    const endpointAnswers = await client.askEach([{ method: 'eth_sendRawTransaction', params: [raw] }])
    const answers = endpointAnswers.flatMap((endpoint) => endpoint.answers ?? [])
    if (answers.some((answer) => answer.ok || isKnown(answer.message))) return
    const refusal = answers.find((answer) => !answer.ok)
    throw new Error(
      `no node takes the transaction: ${refusal?.ok === false ? refusal.message : 'none answers'}`,
    )
  }
}

/**
 * Gas price of a try: about twice the median, and a quarter more for every try that failed before, because
 * nodes replace a transaction of the same nonce only for 10 % more. The divisions round down, and 1 wei more
 * makes up for it. The tip is a tenth of the median, and as much again for every failed try.
 */
function bid(medianWei: bigint, failedTries: number, maxFeePerGasWei: bigint): GasPrice {
  let bidWei = 2n * medianWei + 1n
  for (let raises = 0; raises < failedTries && bidWei < maxFeePerGasWei; raises += 1)
    bidWei = (bidWei * 5n) / 4n + 1n
  const maxFeePerGas = minBigint(bidWei, maxFeePerGasWei)
  const tipWei = (medianWei / 10n + 1n) * BigInt(1 + failedTries)
  return { maxFeePerGas, maxPriorityFeePerGas: minBigint(tipWei, maxFeePerGas) }
}

/** −1 while endpoints disagree, as for a moment after each block, or are silent: the caller reads again. */
function ignoreDisagreement(error: unknown): number {
  if (error instanceof UpstreamDisagreementError || error instanceof UpstreamUnavailableError) return -1
  throw error
}

/** True for a refusal that means the node has the transaction already, or that it was mined meanwhile. */
function isKnown(message: string): boolean {
  return /already known|already imported|known transaction|nonce too low/i.test(message)
}

function partsOf(signature: Hex) {
  const r: Hex = `0x${signature.slice(2, 66)}`
  const s: Hex = `0x${signature.slice(66, 130)}`
  return { r, s, yParity: Number.parseInt(signature.slice(130), 16) - 27 }
}

function quantityOf(answer: { readonly ok: boolean; readonly result?: unknown } | undefined): bigint {
  const result = answer?.result
  if (typeof result === 'string' && /^0x[0-9a-f]{1,64}$/i.test(result)) return BigInt(result)
  throw new UpstreamUnavailableError('A node answered with no quantity.', { code: 'RPC_HTTP_ERROR' })
}

/** The median; of an even number of values the lower one of the middle two. */
function medianOf(values: readonly bigint[]): bigint | undefined {
  const sorted = [...values].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  return sorted[Math.floor((sorted.length - 1) / 2)]
}
