import { DomainError, type Evidence, type FinalBlocks, type Hex, type ReadOptions } from '@causeway/core'
import type { EndpointView, QuorumClient, Sighting } from '@causeway/rpc'
import { resultOf, TransactionNotFinalError } from '@causeway/rpc'
import { contractCall, parseBool, parseWord } from './answers.ts'
import { ethereumFinalBlocks } from './finalBlocks.ts'
import { describeFinality, type FinalHeight, type FinalityRule, secondsToFinality } from './finality.ts'
import { getEntryData, parseEntry } from './genericMapping.ts'
import { headRound, readHeader } from './headRound.ts'
import { balanceOfData, isExecutedData } from './hubReader.ts'

/** A deposit that its owner wants to recover, by its keys on the hub. */
export type RecoveryQuestion = {
  /** Account of the generic mapping's entry. */
  readonly user: Hex
  readonly id: Hex
  /** The account of the hub whose balance is read. */
  readonly holder: Hex
  readonly hubTokenId: bigint
  /** Idempotency key of the execution that credits the deposit on the hub. */
  readonly mintKey: Hex
}

export type RecoveryFacts = {
  /** `0x` when there is no entry. */
  readonly entryData: Hex
  /** Time of the block that wrote the entry; 0 when there is none. */
  readonly entrySeconds: bigint
  /** True if the hub has credited the deposit. */
  readonly isMinted: boolean
  readonly balance: bigint
  /** Time of the final block that was read. */
  readonly readAtSeconds: bigint
  readonly evidence: Evidence
}

/** State of one recoverable deposit on the hub, by the quorum of the hub's endpoints at one final height. */
export interface RecoveryReader {
  /** Id of the hub's chain, for evidence and for the watch over its final blocks. */
  readonly chainId: string
  readonly finalBlocks: FinalBlocks
  /**
   * @throws HubNotFinalError for what the newest block shows and no final one does;
   * UpstreamDisagreementError, UpstreamUnavailableError
   */
  read(question: RecoveryQuestion, options: ReadOptions): Promise<RecoveryFacts>
}

/** The hub has the entry or the deposit, but may still drop it. `waitSeconds` is an estimate. */
export class HubNotFinalError extends DomainError {
  readonly code = 'HUB_NOT_FINAL'
  readonly kind = 'not_final'

  constructor(waitSeconds: number) {
    super('The hub shows the promise or the deposit in a block that its finality rule does not reach.', {
      retryAfterSeconds: waitSeconds,
    })
  }
}

type HubState = Pick<RecoveryFacts, 'entryData' | 'entrySeconds' | 'isMinted' | 'balance'>
type FinalState = HubState & {
  readonly finalBlock: { readonly number: bigint; readonly hash: Hex; readonly timestampSeconds: bigint }
}

export function createRecoveryReader(options: {
  /** Names the hub's final state, in evidence. */
  readonly chainId: string
  readonly quorum: QuorumClient
  readonly mappingAddress: Hex
  readonly oracleAddress: Hex
  readonly hubAddress: (reading: ReadOptions) => Promise<Hex>
  /** A rule of mode `tag` or `depth`, as hub files have it: no block's age is compared here. */
  readonly rule: FinalityRule
}): RecoveryReader {
  const { chainId, quorum, mappingAddress, oracleAddress, rule } = options
  return {
    chainId,
    finalBlocks: ethereumFinalBlocks(quorum, rule),
    async read(question, { signal }) {
      const hubAddress = await options.hubAddress({ signal })
      try {
        const { facts, agreeingEndpoints } = await quorum.read({
          signal,
          ...headRound(rule, quorum.threshold),
          second: (view, _heads, pin, ownSignal) =>
            judge(view, { question, mappingAddress, oracleAddress, hubAddress, rule, pin }, ownSignal),
        })
        const { finalBlock, ...state } = facts
        const { number, hash, timestampSeconds } = finalBlock
        return {
          ...state,
          readAtSeconds: timestampSeconds,
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
        throw new HubNotFinalError(error.retryAfterSeconds ?? 1)
      }
    },
  }
}

type JudgeInput = {
  readonly question: RecoveryQuestion
  readonly mappingAddress: Hex
  readonly oracleAddress: Hex
  readonly hubAddress: Hex
  readonly rule: FinalityRule
  /** Height that was agreed from all endpoints' heads in the first round. */
  readonly pin: FinalHeight
}

/** One endpoint's vote: the state at the final height; `not_final` if the newest block shows a part that it lacks. */
async function judge(
  view: EndpointView,
  judging: JudgeInput,
  signal: AbortSignal,
): Promise<Sighting<FinalState>> {
  const { pin, rule } = judging
  const waitSeconds = secondsToFinality(rule, pin, { number: pin.headNumber })
  if (pin.height < 0n) return { kind: 'not_final', waitSeconds }
  const state = await stateAt(view, judging, pin.height, signal)
  const lacksEntry = state.entrySeconds === 0n
  if (lacksEntry || !state.isMinted) {
    const newest = await stateAt(view, judging, pin.headNumber, signal)
    const isOnTheWay = (lacksEntry && newest.entrySeconds !== 0n) || (!state.isMinted && newest.isMinted)
    if (isOnTheWay) return { kind: 'not_final', waitSeconds }
  }
  // The header is read last, so that it shows the chain on which the endpoint was after the other answers.
  const { number, hash, timestampSeconds } = await readHeader(view, pin.height, signal)
  return { kind: 'final', facts: { ...state, finalBlock: { number, hash, timestampSeconds } } }
}

async function stateAt(
  view: EndpointView,
  { question, mappingAddress, oracleAddress, hubAddress }: JudgeInput,
  height: bigint,
  signal: AbortSignal,
): Promise<HubState> {
  const { user, id, holder, hubTokenId, mintKey } = question
  const [entry, minted, balance] = await view.ask(
    [
      contractCall(mappingAddress, getEntryData(user, id), height),
      contractCall(oracleAddress, isExecutedData(mintKey), height),
      contractCall(hubAddress, balanceOfData(holder, hubTokenId), height),
    ],
    signal,
  )
  const { data, createdAtSeconds } = parseEntry(resultOf(entry, 'getEntry'))
  return {
    entryData: data,
    entrySeconds: createdAtSeconds,
    isMinted: parseBool(minted),
    balance: parseWord(balance),
  }
}
