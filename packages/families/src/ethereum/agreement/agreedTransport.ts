import { DomainError, type Hex, isAnyCaseHex32, viemLibrary } from '@causeway/core'
import type { RpcAnswer, RpcCall } from '@causeway/rpc'
import type * as Viem from 'viem'
import { type AgreementReport, agreeOnEach, answerOfVerdict, type PollingClient } from './agreedReads.ts'

export type AgreementOptions = {
  /** Budget of each batch; default the client's own. */
  readonly timeoutMs?: number | undefined
  readonly onReport?: ((report: AgreementReport) => void) | undefined
}

/** Read that no block fixes, so honest endpoints may answer it differently. */
export class UnpinnedReadError extends Error {
  readonly method: string

  constructor(method: string, lack: string) {
    super(`${method} ${lack}: name a block by number or hash, such as the one of agreeOnHead`)
    this.name = 'UnpinnedReadError'
    this.method = method
  }
}

/**
 * A transport for viem over a chain's endpoints. It answers what enough hosts say alike, where viem's own `fallback`
 * takes the first answer. Requests made at once go out as one batch to each endpoint, and votes are counted for each
 * request. There are no retries, and a read that names no block is refused.
 *
 * Honest nodes word reverts differently, so message and data of a revert are dropped; a CCIP redirection (EIP-3668)
 * therefore is a plain revert here.
 * @throws (per request) UnpinnedReadError, UpstreamDisagreementError, UpstreamUnavailableError, as a cause of viem's
 * error: see `agreedRead`
 * @source docs/internals/agreed-reads.md
 */
export function agreement(client: PollingClient, options: AgreementOptions = {}): Viem.CustomTransport {
  const ask = createBatcher(client, options)
  return viemLibrary().custom(
    {
      async request({
        method,
        params = [],
      }: {
        readonly method: string
        readonly params?: readonly unknown[]
      }) {
        const answer = await ask(pinned({ method, params }))
        if (answer.ok) return answer.result
        const { RpcRequestError } = viemLibrary()
        throw new RpcRequestError({
          body: { method },
          // The chain's id in place of a URL: several endpoints answered, and a URL may hold a key.
          url: client.chainId,
          error: { code: 3, message: 'execution reverted' },
        })
      },
    },
    { key: 'agreement', name: 'Agreement of endpoints', retryCount: 0 },
  )
}

/** A viem client over `agreement`, without viem's own reads. Every read must name a block. */
export type AgreedClient = Viem.Client<Viem.CustomTransport>

/** @see agreement */
export function createAgreedClient(client: PollingClient, options?: AgreementOptions): AgreedClient {
  return viemLibrary().createClient({ transport: agreement(client, options), ccipRead: false })
}

/**
 * Result of a viem read, with the agreement's own errors in place of viem's wrappers.
 * @throws UnpinnedReadError, UpstreamDisagreementError, UpstreamUnavailableError; viem's errors where a contract
 * reverts or returns something else
 */
export async function agreedRead<Value>(reading: Promise<Value>): Promise<Value> {
  try {
    return await reading
  } catch (error) {
    throw ownCause(error) ?? error
  }
}

/**
 * Return data of a contract at a block, by one `eth_call`; `undefined` if it reverts.
 * @throws UpstreamDisagreementError, UpstreamUnavailableError
 */
export async function agreedCall(
  client: AgreedClient,
  asked: { readonly to: Hex; readonly data: Hex; readonly blockHash: Hex },
): Promise<Hex | undefined> {
  const { BaseError, call, ExecutionRevertedError } = viemLibrary()
  try {
    // viem has no `data` if nothing was returned.
    return (await agreedRead(call(client, asked))).data ?? '0x'
  } catch (error) {
    const isRevert = (each: unknown): boolean => each instanceof ExecutionRevertedError
    if (error instanceof BaseError && error.walk(isRevert) !== null) return undefined
    throw error
  }
}

/** The first of our own errors in the chain of causes. */
function ownCause(error: unknown): unknown {
  for (let each = error; each instanceof Error; each = each.cause) {
    if (each instanceof DomainError || each instanceof UnpinnedReadError) return each
  }
  return undefined
}

type WaitingCall = {
  readonly call: RpcCall
  readonly resolve: (answer: RpcAnswer) => void
  readonly reject: (error: unknown) => void
}

/** Collects the calls of one turn of the event loop into one batch; viem makes concurrent requests in the same turn. */
function createBatcher(
  client: PollingClient,
  { timeoutMs, onReport }: AgreementOptions,
): (call: RpcCall) => Promise<RpcAnswer> {
  let waiting: WaitingCall[] = []
  const send = async (): Promise<void> => {
    const batch = waiting
    waiting = []
    try {
      const calls = batch.map(({ call }) => call)
      const limits = timeoutMs === undefined ? {} : { timeoutMs }
      const { verdicts } = await agreeOnEach(client, calls, { ...limits, onReport })
      for (const [index, { resolve, reject }] of batch.entries()) {
        try {
          resolve(answerOfVerdict(client.chainId, verdicts[index]))
        } catch (error) {
          reject(error)
        }
      }
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }
  return (call) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(() => void send())
      waiting.push({ call, resolve, reject })
    })
}

/** Index of the block parameter, by method. */
const blockPositions: ReadonlyMap<string, number> = new Map([
  ['eth_call', 1],
  ['eth_getBalance', 1],
  ['eth_getCode', 1],
  ['eth_getTransactionCount', 1],
  ['eth_getStorageAt', 2],
  ['eth_getBlockByNumber', 0],
  ['eth_feeHistory', 1],
])

/** The call as it is sent. @throws UnpinnedReadError */
function pinned(call: RpcCall): RpcCall {
  const { method, params } = call
  if (method === 'eth_chainId' || method === 'eth_getBlockByHash') return call
  if (method === 'eth_getLogs') return pinnedLogs(call)
  const position = blockPositions.get(method)
  if (position === undefined) throw new UnpinnedReadError(method, 'is no read that a block fixes')
  const block = params[position]
  if (isHexHeight(block)) return call
  if (!isRecord(block) || !isAnyCaseHex32(block['blockHash']))
    throw new UnpinnedReadError(method, 'names no block')
  // With `requireCanonical` (EIP-1898) the node refuses a block that is no longer canonical.
  return { method, params: params.with(position, { blockHash: block['blockHash'], requireCanonical: true }) }
}

function pinnedLogs(call: RpcCall): RpcCall {
  const [filter] = call.params
  const isPinned =
    isRecord(filter) &&
    (isAnyCaseHex32(filter['blockHash']) ||
      (isHexHeight(filter['fromBlock']) && isHexHeight(filter['toBlock'])))
  if (!isPinned) throw new UnpinnedReadError(call.method, 'names no block')
  return call
}

function isHexHeight(value: unknown): boolean {
  return typeof value === 'string' && /^0x[0-9a-fA-F]{1,16}$/.test(value)
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
