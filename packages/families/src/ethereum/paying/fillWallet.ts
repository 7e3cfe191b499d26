import { type FinalBlocks, type Hex, isHex32, type Signer, UpstreamUnavailableError } from '@causeway/core'
import {
  type ChainClient,
  NodeError,
  parseHash,
  parseQuantity,
  parseRecord,
  type RpcAnswer,
  type RpcCall,
  toQuantity,
} from '@causeway/rpc'
import {
  encodeFunctionData,
  keccak256,
  parseAbi,
  parseSignature,
  serializeTransaction,
  zeroAddress,
} from 'viem'
import type { Fees } from '../rules/paying/fees.ts'
import type { Authorization, Mined, PlannedTransaction, SignedTransaction } from './contractPayingChain.ts'
import { type GasLimits, type Trial, tryTransaction } from './tryTransaction.ts'

const readTimeoutMs = 5_000
const plainTransferGas = 21_000n
/** No chain asks for more to send nothing; whoever says so is not followed. */
const cancellationGasMax = 2_000_000n
const erc20Abi = parseAbi([
  'function balanceOf(address account) view returns (uint256)',
  'function allowance(address owner, address spender) view returns (uint256)',
])

/** The fill wallet on one chain: asks, signs and sends, and keeps nothing. */
export type FillWallet = {
  readonly chainId: number
  readonly address: Hex
  counts(): Promise<ChainCounts>
  /** Which transaction of one nonce is mined, by agreement: one that does its work, or a cancellation. */
  minedOf(
    record: {
      readonly transactions: readonly SignedTransaction[]
      readonly cancellations: readonly SignedTransaction[]
    },
    counts: Pick<ChainCounts, 'finalBlock'>,
  ): Promise<{ readonly mined: Mined | undefined; readonly cancelled: Mined | undefined }>
  /** Has it run as it would be signed at this bid, within limits of gas. @throws UpstreamUnavailableError */
  tryOut(transaction: PlannedTransaction, bid: Fees, limits: GasLimits): Promise<Trial>
  sign(transaction: PlacedTransaction, fees: Fees): Promise<SignedTransaction>
  /** Takes a nonce for nothing. */
  signCancellation(nonce: number, fees: Fees): Promise<SignedTransaction>
  /**
   * Sends bytes again and again at no harm: a node that has them says so, and that is enough.
   * @throws NeverTakenError where enough nodes refuse them for good, NodeError where all refuse them now,
   * UpstreamUnavailableError
   */
  broadcast(signed: Pick<SignedTransaction, 'raw'>): Promise<void>
  /** As of the newest block that one endpoint knows: what is short is seen by the simulation at the latest. */
  balanceOf(currency: string): Promise<bigint>
  allowanceFor(token: string, spender: Hex): Promise<bigint>
  /** Failure of the submit endpoint in its last use; undefined if it succeeded, or if there is none. */
  submitFailure(): UpstreamUnavailableError | undefined
}

type PlacedTransaction = PlannedTransaction & { readonly nonce: number; readonly gas: bigint }

export type ChainCounts = {
  readonly latestCount: number
  readonly finalCount: number
  readonly finalBlock: bigint
  readonly chainTime: number
}

export type WalletChain = {
  readonly chainId: number
  readonly client: ChainClient
  /** The only receiver of transactions; absent: `client`. All is read from `client`. @source rule P-55 */
  readonly submit?: ChainClient | undefined
  readonly finalBlocks: FinalBlocks
  readonly signer: Signer
  readonly nowMs: () => number
}

export function connectFillWallet(chain: WalletChain): FillWallet {
  const { chainId, client, submit, signer } = chain
  const { address } = signer
  const submission = new Submission(client, submit)
  return {
    ...{ chainId, address },
    sign: (transaction, fees) => sign(chain, transaction, fees),
    counts: () => readCounts(chain),
    async minedOf({ transactions, cancellations }, { finalBlock }) {
      const mined = await firstMined(client, transactions, finalBlock)
      const cancelled = mined === undefined ? await firstMined(client, cancellations, finalBlock) : undefined
      return { mined, cancelled }
    },
    async tryOut({ authorizationList, ...transaction }, bid, limits) {
      const { maxFeePerGasWei, maxPriorityFeePerGasWei } = bid
      // No nonce is taken while the submit endpoint is silent. An error is an answer: some can only send.
      if (submit !== undefined) await submission.ask({ method: 'eth_chainId', params: [] })
      const tried = {
        ...{ ...transaction, from: address, maxFeePerGasWei, maxPriorityFeePerGasWei },
        authorizationList: authorizationList?.map(toWire),
      }
      return tryTransaction(client, tried, limits)
    },
    async signCancellation(nonce, fees) {
      const call = { from: address, to: address, data: '0x', value: '0x0' }
      const estimate = { method: 'eth_estimateGas', params: [call, 'latest'] }
      // A cancellation must not wait for a node that does not answer.
      const [answer] = await client.batch([estimate], { timeoutMs: readTimeoutMs }).catch(() => [])
      return sign(chain, { to: address, data: '0x', valueWei: 0n, nonce, gas: cancellationGas(answer) }, fees)
    },
    broadcast: (signed) => submission.broadcast(signed),
    submitFailure: () => submission.failure,
    balanceOf: async (currency) =>
      currency === zeroAddress
        ? parseQuantity(
            await client.request({ method: 'eth_getBalance', params: [address, 'latest'] }),
            'eth_getBalance',
          )
        : readToken(
            client,
            currency,
            encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [address] }),
          ),
    allowanceFor: (token, spender) =>
      readToken(
        client,
        token,
        encodeFunctionData({ abi: erc20Abi, functionName: 'allowance', args: [address, spender] }),
      ),
  }
}

async function sign(
  { chainId, signer, nowMs }: WalletChain,
  transaction: PlacedTransaction,
  fees: Fees,
): Promise<SignedTransaction> {
  const { to, data, valueWei: value, nonce, gas, authorizationList } = transaction
  const common = {
    ...{ chainId, nonce, to, data, value, gas },
    maxFeePerGas: fees.maxFeePerGasWei,
    maxPriorityFeePerGas: fees.maxPriorityFeePerGasWei,
  }
  const unsigned =
    authorizationList === undefined
      ? { ...common, type: 'eip1559' as const }
      : { ...common, type: 'eip7702' as const, authorizationList: [...authorizationList] }
  const signature = await signer.sign({ purpose: 'transaction', unsigned: serializeTransaction(unsigned) })
  const raw = serializeTransaction(unsigned, parseSignature(signature))
  return { raw, hash: keccak256(raw), ...fees, signedAtMs: nowMs() }
}

/** Sender of transactions: to the submit endpoint alone, if there is one. @source rule P-55 */
class Submission {
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

async function readCounts({ client, finalBlocks, signer: { address } }: WalletChain): Promise<ChainCounts> {
  const [final, heads] = await Promise.all([
    finalBlocks.readNewest({ signal: AbortSignal.timeout(readTimeoutMs) }),
    client.askEach(
      [
        { method: 'eth_getTransactionCount', params: [address, 'latest'] },
        { method: 'eth_getBlockByNumber', params: ['latest', false] },
      ],
      { timeoutMs: readTimeoutMs },
    ),
  ])
  const { threshold } = client.electorate
  const finalCount = await agreedCount(client, address, final.number)
  return {
    finalCount,
    finalBlock: final.number,
    latestCount: Math.max(finalCount, Number(reached(heads, threshold, countOf))),
    chainTime: Number(reached(heads, threshold, timeOf)),
  }
}

async function readToken(client: ChainClient, token: string, data: Hex): Promise<bigint> {
  const call = { method: 'eth_call', params: [{ to: token, data }, 'latest'] }
  return parseQuantity(shortened(await client.request(call, { timeoutMs: readTimeoutMs })), 'eth_call')
}

/** Numbers as nodes take them. */
function toWire({ chainId, nonce, yParity, ...rest }: Authorization): object {
  const [chain, count, parity] = [chainId, nonce, yParity].map((value) => toQuantity(BigInt(value)))
  return { ...rest, chainId: chain, nonce: count, yParity: parity }
}

/** A word as a quantity, which has no leading zeros. */
function shortened(word: unknown): unknown {
  return isHex32(word) ? toQuantity(BigInt(word)) : word
}

type Heads = Awaited<ReturnType<ChainClient['askEach']>>

/** Value that at least `threshold` hosts have reached, so that a single host ahead or behind changes nothing. */
function reached(
  heads: Heads,
  threshold: number,
  of: (answers: readonly RpcAnswer[]) => bigint | undefined,
): bigint {
  const valueByVoice = new Map<string, bigint>()
  for (const { voice, answers } of heads) {
    const value = answers === undefined ? undefined : of(answers)
    if (value === undefined) continue
    const other = valueByVoice.get(voice)
    valueByVoice.set(voice, other === undefined || value < other ? value : other)
  }
  const agreedValue = [...valueByVoice.values()].sort((one, other) => (one < other ? 1 : -1))[threshold - 1]
  if (agreedValue === undefined)
    throw new UpstreamUnavailableError('Too few endpoints name their newest block.')
  return agreedValue
}

function countOf([count]: readonly RpcAnswer[]): bigint | undefined {
  return count?.ok === true ? quantity(count.result) : undefined
}

function timeOf([, block]: readonly RpcAnswer[]): bigint | undefined {
  if (block?.ok !== true || typeof block.result !== 'object' || block.result === null) return undefined
  return 'timestamp' in block.result ? quantity(block.result.timestamp) : undefined
}

function quantity(value: unknown): bigint | undefined {
  return typeof value === 'string' && /^0x[0-9a-fA-F]{1,64}$/.test(value) ? BigInt(value) : undefined
}

async function agreedCount(client: ChainClient, address: Hex, block: bigint): Promise<number> {
  const method = 'eth_getTransactionCount'
  const { answers } = await client.agree([{ method: method, params: [address, toQuantity(block)] }], {
    timeoutMs: readTimeoutMs,
  })
  const [answer] = answers
  return Number(parseQuantity(answer?.ok === true ? answer.result : undefined, method))
}

/** At most one of several transactions of a nonce is mined; the newest is the likeliest. */
async function firstMined(
  client: ChainClient,
  transactions: readonly SignedTransaction[],
  finalBlock: bigint,
): Promise<Mined | undefined> {
  if (transactions.length === 0) return undefined
  const calls = transactions.map(({ hash }) => ({ method: 'eth_getTransactionReceipt', params: [hash] }))
  const { answers } = await client.agree(calls, {
    timeoutMs: readTimeoutMs,
    project: (receipts) => receipts.map(receiptOf).map((receipt) => receipt && Object.values(receipt)),
  })
  const minedReceipt = answers.map(receiptOf).find((receipt) => receipt !== undefined)
  if (minedReceipt === undefined) return undefined
  const { hash, succeeded, blockNumber, costWei } = minedReceipt
  return { hash, succeeded, costWei, isFinal: blockNumber <= finalBlock }
}

type Receipt = {
  readonly hash: Hex
  readonly succeeded: boolean
  readonly blockNumber: bigint
  readonly blockHash: Hex
  readonly costWei: bigint
}

/** @throws MalformedAnswerError, NodeError */
function receiptOf(answer: RpcAnswer): Receipt | undefined {
  const method = 'eth_getTransactionReceipt'
  if (!answer.ok) throw new NodeError(answer)
  if (answer.result === null) return undefined
  const receipt = parseRecord(answer.result, method)
  return {
    hash: parseHash(receipt['transactionHash'], method),
    succeeded: parseQuantity(receipt['status'], method) === 1n,
    blockNumber: parseQuantity(receipt['blockNumber'], method),
    blockHash: parseHash(receipt['blockHash'], method),
    costWei:
      parseQuantity(receipt['gasUsed'], method) * parseQuantity(receipt['effectiveGasPrice'], method) +
      (receipt['l1Fee'] === undefined ? 0n : parseQuantity(receipt['l1Fee'], method)),
  }
}

/** Gas limit with a margin: the next block may need more than the estimate, if a pool writes an observation in it. */
const withMargin = (gas: bigint) => (gas * 13n) / 10n + 50_000n

/**
 * Gas of a transaction that moves nothing: what a transfer always takes, and more where the chain takes data as gas,
 * because a limit below that is refused and the nonce would stay taken.
 * @param answer to `eth_estimateGas`; none is as good as the usual amount
 */
export function cancellationGas(answer: RpcAnswer | undefined): bigint {
  if (answer?.ok !== true || typeof answer.result !== 'string') return plainTransferGas
  if (!/^0x[0-9a-f]{1,16}$/i.test(answer.result)) return plainTransferGas
  const estimate = BigInt(answer.result)
  if (estimate <= plainTransferGas || estimate > cancellationGasMax) return plainTransferGas
  return withMargin(estimate)
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
