import { type Hex, UpstreamUnavailableError } from '@causeway/core'
import type { JsonRpcClient, RpcCall, RpcOptions } from '@causeway/rpc'
import { MalformedAnswerError, NodeError, parseBytes, toQuantity } from '@causeway/rpc'
import { addressWord, uintWord } from '../rules/abi.ts'
import { readAbi } from './abiReader.ts'

/** A call of a contract's function, as one member of a multicall. */
export type ContractCall = { readonly target: Hex; readonly callData: Hex }

/** Return of one contract; `success: false` if it reverted, with the reason in `returnData`. */
export type ContractAnswer = { readonly success: boolean; readonly returnData: Hex }

/** True for a success that returned at least so many words; a contract of another kind reverts or returns less. */
export function hasWords(answer: ContractAnswer | undefined, count: number): answer is ContractAnswer {
  return answer?.success === true && answer.returnData.length >= 2 + 64 * count
}

/** The state a call runs on: a block by hash or number, or the node's newest. */
export type BlockReference = { readonly hash: Hex } | { readonly number: bigint } | 'latest'

/** `aggregate3((address target, bool allowFailure, bytes callData)[])`, which returns `(bool success, bytes returnData)[]`. */
const selector = '82ad56cb'
const functionName = 'aggregate3'
const wordBytes = 32

/**
 * Many contract calls as one `eth_call`: all of them see the same block, and one that reverts does not
 * fail the others.
 * @source Multicall3, `aggregate3`
 * @throws RangeError on an address that is not 20 bytes
 */
export function multicallRequest(args: {
  readonly multicall3: Hex
  readonly calls: readonly ContractCall[]
  readonly block: BlockReference
}): RpcCall {
  const { multicall3, calls, block } = args
  return {
    method: 'eth_call',
    params: [{ to: multicall3, data: encodeAggregate3(calls) }, blockParameter(block)],
  }
}

/**
 * Reads many contracts at one block in one request; answers in call order. Equal calls are sent once: quotes of many
 * users ask for the same depository's balance.
 * @throws UpstreamUnavailableError when no endpoint answers, the block is unknown, or Multicall3 is not there
 */
export async function multicall(
  client: JsonRpcClient,
  args: {
    readonly multicall3: Hex
    readonly calls: readonly ContractCall[]
    readonly block: BlockReference
  },
  options?: RpcOptions,
): Promise<readonly ContractAnswer[]> {
  if (args.calls.length === 0) return []
  const keyOf = ({ target, callData }: ContractCall) => `${target} ${callData}`
  const sent = new Map(args.calls.map((call) => [keyOf(call), call]))
  const request = multicallRequest({ ...args, calls: [...sent.values()] })
  try {
    const answers = decodeAggregate3(await client.request(request, options), sent.size)
    const answerOf = new Map([...sent.keys()].map((key, index) => [key, answers[index]]))
    return args.calls.flatMap((call) => answerOf.get(keyOf(call)) ?? [])
  } catch (error) {
    if (!(error instanceof NodeError)) throw error
    throw new UpstreamUnavailableError(`Chain ${client.chainId} cannot be read at the moment.`, {
      code: 'RPC_HTTP_ERROR',
      data: { chainId: client.chainId },
      cause: error,
    })
  }
}

/** EIP-1898: a block named by hash must still be canonical. */
export function blockParameter(block: BlockReference): unknown {
  if (block === 'latest') return block
  return 'hash' in block ? { blockHash: block.hash, requireCanonical: true } : toQuantity(block.number)
}

/** Calldata of `aggregate3`; every call may fail by itself. */
export function encodeAggregate3(calls: readonly ContractCall[]): Hex {
  return writeAggregate3(calls, true)
}

/**
 * Calldata of `aggregate3` with one call, whose failure fails the transaction. Multicall3 as the caller has no rights
 * that the call could abuse.
 */
export function encodeForwarded(call: ContractCall): Hex {
  return writeAggregate3([call], false)
}

/** Written by hand, because viem takes up to a millisecond a call, and a pool has hundreds of calls: decision 19. */
function writeAggregate3(calls: readonly ContractCall[], allowFailure: boolean): Hex {
  const wordDigits = 2 * wordBytes
  // The calldata begins, with its length, behind three words: target, flag and the offset itself.
  const flagAndOffset = `${word(allowFailure ? 1 : 0)}${word(3 * wordBytes)}`
  const members = calls.map(({ target, callData }) => {
    const digits = digitsOf(callData)
    const padding = '0'.repeat((wordDigits - (digits.length % wordDigits)) % wordDigits)
    return `${addressWord(target)}${flagAndOffset}${word(digits.length / 2)}${digits}${padding}`
  })
  let offset = calls.length * wordBytes
  const offsets = members.map((member) => {
    const memberOffset = offset
    offset += member.length / 2
    return word(memberOffset)
  })
  return `0x${selector}${word(wordBytes)}${word(calls.length)}${offsets.join('')}${members.join('')}`
}

const word = (value: number): string => value.toString(16).padStart(2 * wordBytes, '0')

const bytesPattern = /^0x(?:[0-9a-f]{2})*$/

/** @throws RangeError */
function digitsOf(bytes: Hex): string {
  const lower = bytes.toLowerCase()
  if (!bytesPattern.test(lower)) throw new RangeError('calldata must be 0x and whole bytes of hex')
  return lower.slice(2)
}

/**
 * The `(bool success, bytes returnData)[]` that `aggregate3` returned.
 * @throws MalformedAnswerError when it does not hold exactly `count` well-formed members
 */
export function decodeAggregate3(result: unknown, count: number): readonly ContractAnswer[] {
  const data = parseBytes(result, functionName)
  // The data must begin with the offset of the list, one word, and the number of its members.
  if (!data.startsWith(`0x${uintWord(32n)}${uintWord(BigInt(count))}`))
    throw new MalformedAnswerError(functionName)
  const reader = readAbi(data, functionName)
  // Offsets of members count from behind the list's length, a member's own offset from its first word.
  const list = 2 * wordBytes
  let unread = reader.byteLength
  return Array.from({ length: count }, (_, index) => {
    const member = list + reader.position(list + index * wordBytes)
    const [success, bytes] = [reader.uint(member), member + reader.position(member + wordBytes)]
    const length = reader.position(bytes)
    // A malicious node could point all members at the same bytes: their lengths together must not exceed the data.
    unread -= length
    if (success > 1n || unread < 0) throw new MalformedAnswerError(functionName)
    return { success: success === 1n, returnData: reader.slice(bytes + wordBytes, length) }
  })
}
