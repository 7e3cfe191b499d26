import { type Hex, type Signer, UpstreamDisagreementError, UpstreamUnavailableError } from '@causeway/core'
import type { ChainClient } from '@causeway/rpc'
import { serializeTransaction } from 'viem'
import { storeSignatureData } from './allocatorContract.ts'

/** A signature of a payload's hash that is to be stored in the allocator's contract. */
export type Storing = { readonly payloadId: Hex; readonly hash: Hex; readonly signature: Hex }

/** Stores signatures in the allocator's contract, by transactions of the allocator's own key. */
export interface SignatureStore {
  /**
   * Sends one transaction per signature, all at once, and waits until they are mined.
   * @throws Error when they are not mined in time, gas is too dear, or every node refuses. The next call then replaces
   * them: it takes the same nonces at a higher price, so that only one transaction per nonce is mined
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

export function createSignatureStore(options: SignatureStoreOptions): SignatureStore {
  const { client, chainId, allocator, signer, maxFeePerGasWei } = options
  /** First nonce of the last call, and how often calls had begun with it before. */
  let last = { nonce: -1, tries: 0 }

  /** Number of the key's mined transactions: its next nonce. */
  async function minedCount(): Promise<number> {
    const call = { method: 'eth_getTransactionCount', params: [signer.address, 'latest'] }
    const { answers } = await client.agree([call])
    return Number(quantityOf(answers[0]))
  }

  async function priceFor(nonce: number): Promise<GasPrice> {
    last = { nonce, tries: last.nonce === nonce ? last.tries + 1 : 0 }
    const endpointAnswers = await client.askEach([{ method: 'eth_gasPrice', params: [] }])
    const prices = endpointAnswers.flatMap(({ answers }) =>
      answers?.[0]?.ok ? [quantityOf(answers[0])] : [],
    )
    const median = medianOf(prices)
    if (median === undefined) throw new Error('no endpoint tells the price of gas')
    if (median > maxFeePerGasWei) throw new Error('gas is dearer than maxFeePerGasWei')
    return bid(median, last.tries, maxFeePerGasWei)
  }

  async function send(storing: Storing, nonce: number, price: GasPrice, signal: AbortSignal) {
    const data = storeSignatureData(storing.payloadId, storing.hash, storing.signature)
    const transaction = {
      type: 'eip1559',
      chainId,
      nonce,
      to: allocator,
      data,
      gas: gasLimit,
      ...price,
    } as const
    const unsigned = serializeTransaction(transaction)
    const signature = await signer.sign({ purpose: 'transaction', unsigned }, { signal })
    const raw = serializeTransaction(transaction, partsOf(signature))
    signal.throwIfAborted()
    const endpointAnswers = await client.askEach([{ method: 'eth_sendRawTransaction', params: [raw] }])
    const answers = endpointAnswers.flatMap((one) => one.answers ?? [])
    const refusal = answers.find((answer) => !answer.ok && !isKnown(answer.message))
    if (answers.some((answer) => answer.ok || isKnown(answer.message))) return
    throw new Error(
      `no node takes the transaction: ${refusal?.ok === false ? refusal.message : 'none answers'}`,
    )
  }

  return {
    async store(signatures, { signal }) {
      if (signatures.length === 0) return
      const firstNonce = await minedCount()
      const price = await priceFor(firstNonce)
      for (const [index, storing] of signatures.entries()) {
        await send(storing, firstNonce + index, price, signal)
      }
      const deadlineMs = performance.now() + minedTimeoutMs
      while (performance.now() < deadlineMs && !signal.aborted) {
        if ((await minedCount().catch(ignoreDisagreement)) >= firstNonce + signatures.length) return
        await new Promise((resolve) => setTimeout(resolve, pollMs))
      }
      signal.throwIfAborted()
      throw new Error('signatures were sent and are not mined yet')
    },
    async gasBalanceWei() {
      const endpointAnswers = await client.askEach([
        { method: 'eth_getBalance', params: [signer.address, 'latest'] },
      ])
      return medianOf(
        endpointAnswers.flatMap(({ answers }) => (answers?.[0]?.ok ? [quantityOf(answers[0])] : [])),
      )
    },
  }
}

/**
 * Gas price of a try: about twice the median, a quarter more with every further try, because nodes replace a
 * transaction of the same nonce only for 10 % more.
 */
function bid(median: bigint, tries: number, maxFeePerGasWei: bigint): GasPrice {
  let bidWei = 2n * median + 1n
  for (let tried = 0; tried < tries && bidWei < maxFeePerGasWei; tried += 1) bidWei = (bidWei * 5n) / 4n + 1n
  const maxFeePerGas = bidWei < maxFeePerGasWei ? bidWei : maxFeePerGasWei
  const tip = (median / 10n + 1n) * BigInt(1 + tries)
  return { maxFeePerGas, maxPriorityFeePerGas: tip < maxFeePerGas ? tip : maxFeePerGas }
}

/** −1 for a disagreement, which is normal for a moment after each block: the caller reads again. */
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
