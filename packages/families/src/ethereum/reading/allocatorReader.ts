import { DomainError, type Evidence, type FinalBlocks, type Hex, type ReadOptions } from '@causeway/core'
import type { EndpointView, QuorumClient, RpcAnswer, Sighting } from '@causeway/rpc'
import { parseBytes, resultOf, TransactionNotFinalError } from '@causeway/rpc'
import { isExecutionFailure } from '../agreement/comparableAnswer.ts'
import { readAbi } from '../contracts/abiReader.ts'
import { addressWord, bytes32Word } from '../rules/abi.ts'
import { contractCall, parseWord } from './answers.ts'
import { ethereumFinalBlocks } from './finalBlocks.ts'
import { describeFinality, type FinalHeight, type FinalityRule, secondsToFinality } from './finality.ts'
import { headRound, readHeader } from './headRound.ts'

/**
 * Proof of an allocator contract that it issued a payload. `own`: the payload that it keeps for each nonce of a
 * spender. `public`: its stored signatures over the payload's hashes, since anybody may store a payload there.
 * @source rules P-118, P-119
 */
export type WithdrawalKeys = 'own' | 'public'

/** A withdrawal payload that the allocator is said to have issued. */
export type IssueQuestion = {
  readonly payloadId: Hex
  /** The owner's account on the hub. */
  readonly spender: Hex
  /** 32 bytes. */
  readonly nonce: Hex
  /** Hashes that the allocator signs for a payload. A payload without any was not issued. */
  readonly hashesOf: (payload: Hex) => readonly Hex[]
}

export type IssuedFacts = {
  /** `undefined`: nothing was issued for exactly this request. */
  readonly payload: Hex | undefined
  readonly evidence: Evidence
}

/** Payloads issued by the allocator, by the quorum of its chain's endpoints at one final height. */
export interface AllocatorReader {
  /** Id of the allocator's chain, for evidence and for the watch over its final blocks. */
  readonly chainId: string
  readonly finalBlocks: FinalBlocks
  /**
   * @throws WithdrawalNotFinalError for what the newest block shows and no final one does;
   * UpstreamDisagreementError, UpstreamUnavailableError
   */
  readIssued(question: IssueQuestion, options: ReadOptions): Promise<IssuedFacts>
  /** True if the contract offers `payloadIdOf`. @throws as `readIssued` */
  namesPayloads(options: ReadOptions): Promise<boolean>
}

/** The allocator has issued the payload in a block that is not final yet. `waitSeconds` is an estimate. */
export class WithdrawalNotFinalError extends DomainError {
  readonly code = 'WITHDRAWAL_NOT_FINAL'
  readonly kind = 'not_final'

  constructor(payloadId: Hex, waitSeconds: number) {
    super("The allocator issued the withdrawal in a block that its chain's finality rule does not reach.", {
      data: { payloadId },
      retryAfterSeconds: waitSeconds,
    })
  }
}

/** Functions of the contract; `payloadIdOf(spender, nonce)` is only in contracts of the kind `own`. */
const selectors = {
  payloads: '0x58722672',
  signedPayloads: '0x9bc1f598',
  payloadIdOf: '0x8c02013f',
} as const
const zeroWord: Hex = `0x${'0'.repeat(64)}`
const zeroAddress: Hex = `0x${'0'.repeat(40)}`

type IssuedAtBlock = {
  readonly payload: Hex | undefined
  readonly finalBlock: { readonly number: bigint; readonly hash: Hex }
}

export function createAllocatorReader(options: {
  /** Names the allocator's chain. */
  readonly chainId: string
  readonly quorum: QuorumClient
  readonly allocatorAddress: Hex
  readonly keys: WithdrawalKeys
  /** A rule of mode `tag` or `depth`, as hub files have it: no block's age is compared here. */
  readonly rule: FinalityRule
}): AllocatorReader {
  const { chainId, quorum, rule } = options
  const heads = headRound(rule, quorum.threshold)
  return {
    chainId,
    finalBlocks: ethereumFinalBlocks(quorum, rule),
    async readIssued(question, { signal }) {
      try {
        const { facts, agreeingEndpoints } = await quorum.read({
          ...heads,
          signal,
          second: (view, _heads, pin, ownSignal) => voteOf(view, { ...options, question, pin }, ownSignal),
        })
        const { number, hash } = facts.finalBlock
        return {
          payload: facts.payload,
          evidence: {
            chainId,
            blockNumber: number,
            blockHash: hash,
            agreeingEndpoints,
            finalityRule: describeFinality(rule),
          },
        }
      } catch (error) {
        if (!(error instanceof TransactionNotFinalError)) throw error
        throw new WithdrawalNotFinalError(question.payloadId, error.retryAfterSeconds ?? 1)
      }
    },
    async namesPayloads({ signal }) {
      const { facts } = await quorum.read({
        ...heads,
        signal,
        async second(view, _heads, { headNumber }, ownSignal) {
          // The newest block will do, since this only checks the configuration. Nobody has issued anything to the
          // zero address, so a contract with the function returns a word of zeros.
          const data = payloadIdOfData({ spender: zeroAddress, nonce: zeroWord })
          const call = contractCall(options.allocatorAddress, data, headNumber)
          const [answer] = await view.ask([call], ownSignal)
          return { kind: 'final', facts: isZeroWord(answer) }
        },
      })
      return facts
    },
  }
}

/** True for a word of zeros; false if the contract reverts or returns something else. @throws MalformedAnswerError */
function isZeroWord(answer: RpcAnswer | undefined): boolean {
  if (answer?.ok === false && isExecutionFailure(answer)) return false
  return resultOf(answer, 'payloadIdOf') === zeroWord
}

type IssueReading = Parameters<typeof createAllocatorReader>[0] & {
  readonly question: IssueQuestion
  /** Height that was agreed from all endpoints' heads in the first round. */
  readonly pin: FinalHeight
}

/** One endpoint's vote: the payload issued at the final height; `not_final` if only its newest block shows one. */
async function voteOf(
  view: EndpointView,
  reading: IssueReading,
  signal: AbortSignal,
): Promise<Sighting<IssuedAtBlock>> {
  const { pin, rule } = reading
  const waitSeconds = secondsToFinality(rule, pin, { number: pin.headNumber })
  if (pin.height < 0n) return { kind: 'not_final', waitSeconds }
  const payload = await issuedAt(view, reading, pin.height, signal)
  if (payload === undefined) {
    const newestPayload = await issuedAt(view, reading, pin.headNumber, signal)
    if (newestPayload !== undefined) return { kind: 'not_final', waitSeconds }
  }
  // The header is read last, so that it shows the chain on which the endpoint was after the other answers.
  const { number, hash } = await readHeader(view, pin.height, signal)
  return { kind: 'final', facts: { payload, finalBlock: { number, hash } } }
}

/** The payload, if the allocator's state at `height` proves that it was issued for this request. */
async function issuedAt(
  view: EndpointView,
  { allocatorAddress, keys, question }: IssueReading,
  height: bigint,
  signal: AbortSignal,
): Promise<Hex | undefined> {
  const { payloadId, hashesOf } = question
  const callAtHeight = (data: Hex) => contractCall(allocatorAddress, data, height)
  const [stored, idOfNonce] = await view.ask(
    [
      callAtHeight(`${selectors.payloads}${bytes32Word(payloadId)}`),
      ...(keys === 'own' ? [callAtHeight(payloadIdOfData(question))] : []),
    ],
    signal,
  )
  const payload = parseReturnedBytes(stored, 'payloads')
  if (keys === 'own') {
    return parseWord(idOfNonce) === BigInt(payloadId) && payload !== '0x' ? payload : undefined
  }
  // A public contract may hold a stranger's payload: each of its hashes must have the allocator's signature.
  const hashes = payload === '0x' ? [] : hashesOf(payload)
  if (hashes.length === 0) return undefined
  const signatures = await view.ask(
    hashes.map((hash) =>
      callAtHeight(`${selectors.signedPayloads}${bytes32Word(payloadId)}${bytes32Word(hash)}`),
    ),
    signal,
  )
  const isSigned = (_hash: Hex, index: number) =>
    parseReturnedBytes(signatures[index], 'signedPayloads') !== '0x'
  return hashes.every(isSigned) ? payload : undefined
}

function payloadIdOfData({ spender, nonce }: Pick<IssueQuestion, 'spender' | 'nonce'>): Hex {
  return `${selectors.payloadIdOf}${addressWord(spender)}${bytes32Word(nonce)}`
}

/** A returned `bytes`. @throws MalformedAnswerError */
function parseReturnedBytes(answer: RpcAnswer | undefined, subject: string): Hex {
  const reader = readAbi(parseBytes(resultOf(answer, subject), subject), subject)
  const start = reader.position(0)
  return reader.slice(start + 32, reader.position(start))
}
