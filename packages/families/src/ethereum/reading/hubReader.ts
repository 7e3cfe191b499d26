import type { Hex, ReadOptions } from '@causeway/core'
import type { QuorumClient, RpcAnswer, Sighting } from '@causeway/rpc'
import { MalformedAnswerError } from '@causeway/rpc'
import { addressWord, bytes32Word, uintWord } from '../rules/abi.ts'
import { contractCall, headerCall, parseBool, parseHeader, parseWord } from './answers.ts'
import { type FinalityRule, secondsToFinality } from './finality.ts'
import { headRound } from './headRound.ts'

/** Reads balances and executions of the hub by the quorum of its endpoints, each at one block. */
export interface HubReader {
  /** ERC-6909 balance at the newest block. @throws UpstreamDisagreementError, UpstreamUnavailableError */
  balanceOf(holder: Hex, tokenId: bigint, options: ReadOptions): Promise<bigint>
  /** Balance at the final height of the hub's chain. @throws as `balanceOf` */
  finalBalanceOf(holder: Hex, tokenId: bigint, options: ReadOptions): Promise<FinalBalance>
  /** True if an execution with this idempotency key was applied, at the newest block. */
  isExecuted(idempotencyKey: Hex, options: ReadOptions): Promise<boolean>
  /** Address of the hub contract, as the oracle contract names it. */
  hubAddress(options: ReadOptions): Promise<Hex>
}

/** Balance that no reorganization can change. */
export type FinalBalance = {
  readonly balance: bigint
  /** Estimated seconds until the state of the newest block is final. */
  readonly waitSeconds: number
}

/** The block's hash makes endpoints agree on the block as well. */
type BalanceAtBlock = FinalBalance & { readonly hash: Hex | undefined }

const selectors = { balanceOf: '0x00fdd58e', isExecuted: '0xe52cb36a', hub: '0xa4c52b86' } as const
/** A depth of 0: the newest block that enough endpoints have, since balances change with each settlement. */
const newestBlockRule: FinalityRule = { mode: 'depth', tag: 'finalized', blocks: 0n, seconds: 0n }

/**
 * @param options.hubAddress contract that holds the balances; default the hub that the oracle contract names
 * @source rule P-121
 */
export function createHubReader(options: {
  readonly quorum: QuorumClient
  readonly oracleAddress: Hex
  readonly hubAddress?: Hex | undefined
  /** Finality of the hub's blocks, of mode `tag` or `depth`, as hub files have it: no block's age is compared. */
  readonly rule: FinalityRule
}): HubReader {
  const { quorum, oracleAddress, rule } = options
  const ask = async <Value>(call: HubCall<Value>, { signal }: ReadOptions) =>
    (await readNewest(quorum, call, signal)).value
  const hubAddress = (reading: ReadOptions) =>
    ask({ to: oracleAddress, data: selectors.hub, parse: parseAddressWord }, reading)
  const balanceCall = async (holder: Hex, tokenId: bigint, reading: ReadOptions) => ({
    to: options.hubAddress ?? (await hubAddress(reading)),
    data: balanceOfData(holder, tokenId),
    parse: parseWord,
  })
  return {
    hubAddress,
    async balanceOf(holder, tokenId, reading) {
      return ask(await balanceCall(holder, tokenId, reading), reading)
    },
    async finalBalanceOf(holder, tokenId, reading) {
      const { to, data, parse } = await balanceCall(holder, tokenId, reading)
      const { facts } = await quorum.read({
        signal: reading.signal,
        ...headRound(rule, quorum.threshold),
        async second(view, _heads, agreed, ownSignal): Promise<Sighting<BalanceAtBlock>> {
          const { height } = agreed
          const waitSeconds = secondsToFinality(rule, agreed, { number: agreed.headNumber })
          // Without a final block no balance is final yet.
          if (height < 0n) return { kind: 'final', facts: { balance: 0n, waitSeconds, hash: undefined } }
          const calls = [contractCall(to, data, height), headerCall(height)]
          const [answer, header] = await view.ask(calls, ownSignal)
          const { hash } = parseHeader(header, height)
          return { kind: 'final', facts: { balance: parse(answer), waitSeconds, hash } }
        },
      })
      return { balance: facts.balance, waitSeconds: facts.waitSeconds }
    },
    isExecuted: (key, reading) =>
      ask({ to: oracleAddress, data: isExecutedData(key), parse: parseBool }, reading),
  }
}

export function balanceOfData(holder: Hex, tokenId: bigint): Hex {
  return `${selectors.balanceOf}${addressWord(holder)}${uintWord(tokenId)}`
}

export function isExecutedData(idempotencyKey: Hex): Hex {
  return `${selectors.isExecuted}${bytes32Word(idempotencyKey)}`
}

/** A contract call on the hub's chain, and the parser of its answer. */
export type HubCall<Value> = {
  readonly to: Hex
  readonly data: Hex
  readonly parse: (answer: RpcAnswer | undefined) => Value
}

/** Makes a call at the newest block that enough endpoints have, in two rounds: first the heads, then the call. */
export async function readNewest<Value>(
  quorum: QuorumClient,
  call: HubCall<Value>,
  signal: AbortSignal,
): Promise<{ readonly value: Value; readonly timestampSeconds: bigint }> {
  const { values, timestampSeconds } = await readEachNewest(quorum, [call], signal)
  // CAST: one call has one value.
  return { value: values[0] as Value, timestampSeconds }
}

/** As `readNewest`, for several calls at one block. */
export async function readEachNewest<Value>(
  quorum: QuorumClient,
  calls: readonly HubCall<Value>[],
  signal: AbortSignal,
): Promise<{ readonly values: readonly Value[]; readonly timestampSeconds: bigint }> {
  const { facts } = await quorum.read({
    signal,
    ...headRound(newestBlockRule, quorum.threshold),
    async second(view, _heads, { height }, ownSignal) {
      if (height < 0n) return { kind: 'not_final', waitSeconds: 1 }
      const contractCalls = calls.map(({ to, data }) => contractCall(to, data, height))
      const [header, ...answers] = await view.ask([headerCall(height), ...contractCalls], ownSignal)
      const { hash, timestampSeconds } = parseHeader(header, height)
      const values = calls.map(({ parse }, index) => parse(answers[index]))
      return { kind: 'final', facts: { hash, timestampSeconds, values } }
    },
  })
  return facts
}

function parseAddressWord(answer: RpcAnswer | undefined): Hex {
  const word = parseWord(answer)
  if (word >> 160n !== 0n) throw new MalformedAnswerError('eth_call')
  return `0x${word.toString(16).padStart(40, '0')}`
}
